/** One thing that is wrong in a file, in the operator's words. Lines and columns count from 1. */
export interface ConfigProblem {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  /** Where in the file, as `rollouts[0].waves[1].size`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

/** More would scroll the first ones away; `problems` still has them all. */
const problemsShownMax = 50;

/** A file that can't be used, with everything that is wrong in it at once. The message is complete: show it without the stack. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const shown = problems.slice(0, problemsShownMax).map(formatProblem);
    const hiddenCount = problems.length - shown.length;
    if (hiddenCount > 0) shown.push(`and ${hiddenCount} more`);
    super(shown.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** `config.yaml:12:5 rollouts[0].wave: unknown key "wave"; did you mean "waves"?` */
function formatProblem(problem: ConfigProblem): string {
  const place = [problem.file, problem.line, problem.column].filter((part) => part !== undefined).join(':');
  return `${place}${problem.path === '' ? '' : ` ${problem.path}`}: ${problem.message}`;
}

/** Writes a path the way a person reads it: `rollouts[0].select.include["a b"]`. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((key, index) => {
      if (typeof key === 'number') return `[${key}]`;
      const name = String(key);
      if (!/^[A-Za-z_][\w-]*$/.test(name)) return `[${quote(name)}]`;
      return index === 0 ? name : `.${name}`;
    })
    .join('');
}

/** Longer texts are cut in messages. */
const quotedCharactersMax = 80;

/** A value from a file as it stands in a message: on one line, in quotes, without control characters. */
export function quote(text: string): string {
  return JSON.stringify(text.length > quotedCharactersMax ? `${text.slice(0, quotedCharactersMax)}…` : text);
}

/**
 * A key without the value that YAML takes for a part of it where no blank follows the colon, as in
 * `{ accessKey:secret }` (P12).
 */
export function keyName(key: string): string {
  return key.replace(/[:=\s].*$/s, '…');
}

/** A host without what may hold a credential (P12): what stands before an `@`, and what follows a `?` or `#`. */
export function withoutUserInfo(text: string): string {
  return text.replace(/^.*@/s, '…@').replace(/[?#].*$/s, '…');
}
