import type { Key as InkKey } from 'ink';
import type { Key } from './screen-state.ts';

/** The keys in one piece of input. A key with Ctrl is none of ours. */
export function readKeys(text: string, key: InkKey): readonly Key[] {
  if (key.ctrl) return [];
  if (key.upArrow) return [{ kind: 'up' }];
  if (key.downArrow) return [{ kind: 'down' }];
  if (key.return) return [{ kind: 'enter' }];
  if (key.escape || key.leftArrow) return [{ kind: 'back' }];
  if (key.rightArrow) return [{ kind: 'enter' }];
  if (key.backspace || key.delete) return [{ kind: 'erase' }];
  return splitText(text);
}

/** Splits text of one write: a paste, or keys that a program or a slow connection sends together. A line end is enter. */
export function splitText(text: string): readonly Key[] {
  return text
    .split(/(\r\n|[\r\n\b\u007f])/)
    .filter((part) => part !== '')
    .map((part) => {
      if (/^[\r\n]/.test(part)) return { kind: 'enter' };
      return /^[\b\u007f]/.test(part) ? { kind: 'erase' } : { kind: 'text', text: part };
    });
}
