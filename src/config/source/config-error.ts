/** One mistake in a file, in the operator's words. Lines and columns count from 1. */
export interface ConfigProblem {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  /** The position in the file, such as `rollouts[0].waves[1].size`; empty for the whole file. */
  readonly path: string;
  readonly message: string;
}

/** More lines would scroll the first ones away. `problems` has all of them. */
const problemsShownMax = 50;

/** A file that cannot be used, with all its mistakes. The message is complete: show it without the stack. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.slice(0, problemsShownMax).map(formatProblem);
    const hiddenCount = problems.length - lines.length;
    if (hiddenCount > 0) lines.push(`and ${hiddenCount} more`);
    super(lines.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** `config.yaml:12:5: rollouts[0].wave: unknown key "wave"; did you mean "waves"?` */
function formatProblem(problem: ConfigProblem): string {
  const place = [problem.file, problem.line, problem.column].filter((part) => part !== undefined).join(':');
  return `${place}: ${problem.path === '' ? '' : `${problem.path}: `}${problem.message}`;
}

/** Writes a path for people: `rollouts[0].select.include["a b"]`. */
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

/** A value from a file for a message: on one line, in quotes, without control characters. */
export function quote(text: string): string {
  return JSON.stringify(text.length > quotedCharactersMax ? `${text.slice(0, quotedCharactersMax)}…` : text);
}

/**
 * A key without its value. Without a blank after the colon, YAML reads the value as a part of the key, as in
 * `{ accessKey:secret }` (P12).
 */
export function keyName(key: string): string {
  return key.replace(/[:=\s].*$/s, '…');
}

/** A host without possible credentials (P12): the text before an `@`, and after a `?` or `#`. */
export function withoutUserInfo(text: string): string {
  return text.replace(/^.*@/s, '…@').replace(/[?#].*$/s, '…');
}
