import { createHash, createHmac } from 'node:crypto';

/** A stable 48-bit number of a text, evenly spread: for repeatable orders that follow no name. */
export function hashNumber(text: string): number {
  return Number.parseInt(createHash('sha256').update(text).digest('hex').slice(0, 12), 16);
}

/** The first hexadecimal digits of a text's SHA-256: a short name for a content. */
export function hashHex(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}

/** The same with a key: whoever has the digits alone can't try texts until one fits. */
export function keyedHashHex(key: string, text: string, digits: number): string {
  return createHmac('sha256', key).update(text).digest('hex').slice(0, digits);
}
