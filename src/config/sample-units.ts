/** What names are made of; the expression's own characters are tried beside them. */
const usualUnits = ['a', 'A', '0', '_', '-', '.', ' ', 'aA0_-. '];
const ownCharactersMax = 40;
const ownUnitsMax = 40;

/**
 * Texts that a regular expression may match again and again: each of its characters, each alternative and each other part
 * between brackets, what stands between its repetitions, and all of that in a row.
 * @param source a regular expression that compiles with the `u` flag
 */
export function sampleUnits(source: string): readonly string[] {
  const parts: string[] = [''];
  const words: string[] = [''];
  let literal = '';
  for (const [token] of source.matchAll(tokens)) {
    if (isBracket.test(token)) parts.push('');
    if (isBracket.test(token) || isRepetition.test(token)) words.push('');
    else {
      const member = memberOf(token);
      parts.push(`${parts.pop() ?? ''}${member}`);
      words.push(`${words.pop() ?? ''}${token === '.' ? '' : member}`);
      if (token !== '.') literal += member;
    }
  }
  const own = [...new Set(literal)].slice(0, ownCharactersMax);
  const longer = [...new Set([literal, parts.join(''), ...parts, ...words])].slice(0, ownUnitsMax);
  return [...new Set([...usualUnits, ...own, ...longer])].filter((unit) => unit !== '');
}

/** The beginning of a group, a class, an escape, a repetition, or any one character. */
const tokens =
  /\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?|\[(?:\\.|[^\]\\])*\]|\\[pPk](?:\{[^}]*\}|<[^>]*>)|\\.|[*+?]\??|\{\d+(?:,\d*)?\}\??|./gsu;
const isBracket = /^(?:\(|\)$|\|$)/;
const isRepetition = /^(?:[*+?]\??|\{\d.*)$/;

/** One text that a token matches; empty for what only looks around. */
function memberOf(token: string): string {
  if (token === '^' || token === '$') return '';
  if (token === '.') return 'a';
  if (token.startsWith('[^')) return ['a', '0', '-'].find((member) => !token.includes(member)) ?? '~';
  if (token.startsWith('[')) return memberOf(/^\\[^pP]|^./su.exec(token.slice(1, -1))?.[0] ?? '');
  if (!token.startsWith('\\')) return token;
  return escapes[token[1] ?? ''] ?? (/^\\\W$/u.test(token) ? token.slice(1) : '');
}

const escapes: Readonly<Record<string, string>> = { d: '0', w: 'a', s: ' ', D: 'a', W: '-', S: 'a', p: 'a' };
