/** What makes no other small letter through its capital, and what Unicode folds together all the same. */
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
  // Nearly every text is so, and a scan folds the texts of a whole fleet.
  return /^[\0-\x7f]*$/.test(text) ? text.toLowerCase() : Array.from(text, foldCharacter).join('');
}

function foldCharacter(character: string): string {
  return exceptions[character] ?? oneCharacter(oneCharacter(character, 'toUpperCase'), 'toLowerCase');
}

function oneCharacter(character: string, change: 'toUpperCase' | 'toLowerCase'): string {
  const changed = character[change]();
  return changed.length === character.length || Array.from(changed).length === 1 ? changed : character;
}
