import { RE2JS, RE2JSSyntaxException } from 're2js';

/** A pattern that cannot be used. The message gives the reason. */
export class PatternError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PatternError';
  }
}

type TextTest = (text: string) => boolean;

/**
 * Makes one test out of many patterns. A text passes when one of them matches. A pattern is a case-insensitive glob (`*` any
 * text, `?` one character), or a `/regular expression/` in RE2's syntax, with the flag `i` to ignore case. Patterns without
 * wildcards form one set: ten thousand names cost no more than one. No pattern backtracks: the time is at most the length of
 * the text times that of the pattern.
 * @throws PatternError for a regular expression that RE2 lacks, or that is too large
 */
export function compilePatterns(patterns: readonly string[]): TextTest {
  const exact = new Set<string>();
  const globs: TextTest[] = [];
  const expressions: TextTest[] = [];
  for (const pattern of patterns) {
    const kind = kindOfPattern(pattern);
    if (kind === 'regularExpression') expressions.push(compileRegularExpression(pattern));
    else if (kind === 'glob') globs.push(compileGlob(foldCase(pattern)));
    else exact.add(foldCase(pattern));
  }
  return (text) => {
    if (exact.size > 0 || globs.length > 0) {
      const folded = foldCase(text);
      if (exact.has(folded) || globs.some((matches) => matches(folded))) return true;
    }
    return expressions.some((matches) => matches(text));
  };
}

/** The kinds of patterns. They differ in the cost of a test. */
export function kindOfPattern(pattern: string): 'exact' | 'glob' | 'regularExpression' {
  if (regularExpression.test(pattern)) return 'regularExpression';
  return /[*?]/.test(pattern) ? 'glob' : 'exact';
}

const regularExpression = /^\/(.*)\/(i?)$/s;

/** Limits matching one pattern against a text of a thousand characters to a few milliseconds. */
const instructionsMax = 2_000;

function compileRegularExpression(pattern: string): TextTest {
  const [, source = '', flags = ''] = regularExpression.exec(pattern) ?? [];
  const expression = parseRegularExpression(source, flags);
  if (expression.programSize() > instructionsMax)
    throw new PatternError('it repeats too much; write smaller counts between "{" and "}"');
  return (text) => expression.test(text);
}

function parseRegularExpression(source: string, flags: string): RE2JS {
  try {
    return RE2JS.compile(source, flags === 'i' ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    throw new PatternError(syntaxSentence(error), { cause: error });
  }
}

function syntaxSentence(error: RE2JSSyntaxException): string {
  const part = error.getPattern() ?? '';
  if (/^\(\?<?[=!]/.test(part))
    return 'lookahead and lookbehind ("(?=", "(?!", "(?<=", "(?<!") are not supported; in a selector, exclude leaves names out';
  if (part.startsWith('{')) return `${part} repeats more than 1,000 times, or is inside another repetition`;
  if (/^\\[1-9k]/.test(part)) return `backreferences (${part}) are not supported; write the text out`;
  return part === '' ? error.getDescription() : `${error.getDescription()}: ${part}`;
}

/**
 * Finds the parts between the stars from left to right. Each part takes its first match, which leaves the most text for
 * the others, so there is no backtracking.
 * @param glob case-folded, as the texts must be
 */
function compileGlob(glob: string): TextTest {
  if (glob.includes('?')) return compileWithOneCharacters(glob);
  const [first = '', ...rest] = glob.split(/\*+/);
  const last = rest.pop() ?? '';
  return (text) => {
    if (!text.startsWith(first)) return false;
    let from = first.length;
    for (const part of rest) {
      const at = text.indexOf(part, from);
      if (at === -1) return false;
      from = at + part.length;
    }
    return text.length - last.length >= from && text.endsWith(last);
  };
}

function compileWithOneCharacters(glob: string): TextTest {
  const source = glob.replaceAll(/[^*?]+|\*+|\?/g, (part) => {
    if (part === '?') return '.';
    return part.startsWith('*') ? '.*' : RE2JS.quote(part);
  });
  const expression = RE2JS.compile(`^${source}$`, RE2JS.DOTALL);
  return (text) => expression.test(text);
}

/** Characters that Unicode folds together although their upper case does not lead to the same lower case. */
const exceptions: Readonly<Record<string, string>> = {
  ı: 'ı',
  '\u1fd3': '\u0390',
  '\u1fe3': '\u03b0',
  '\ufb05': '\ufb06',
};

/**
 * Makes texts equal that differ in case alone, one character at a time: Unicode's simple case folding, which regular
 * expressions use with the flags `iu`. So `STRASSE` and `straße` stay different.
 */
export function foldCase(text: string): string {
  // Nearly every text is ASCII, and a scan folds the texts of a whole fleet.
  return /^[\0-\x7f]*$/.test(text) ? text.toLowerCase() : Array.from(text, foldCharacter).join('');
}

function foldCharacter(character: string): string {
  return exceptions[character] ?? oneCharacter(oneCharacter(character, 'toUpperCase'), 'toLowerCase');
}

function oneCharacter(character: string, change: 'toUpperCase' | 'toLowerCase'): string {
  const changed = character[change]();
  return changed.length === character.length || Array.from(changed).length === 1 ? changed : character;
}
