import { createHash, createHmac } from 'node:crypto';

/** A stable, evenly spread 48-bit number for a text. It gives repeatable orders that do not follow names. */
export function hashNumber(text: string): number {
  return Number.parseInt(hashHex(text, 12), 16);
}

/** The first hexadecimal digits of a text's SHA-256. */
export function hashHex(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}

/**
 * The first hexadecimal digits of a text's HMAC-SHA256. Without the key, trying candidates does not reveal the text.
 */
export function keyedHashHex(key: string, text: string, digits: number): string {
  return createHmac('sha256', key).update(text).digest('hex').slice(0, digits);
}
