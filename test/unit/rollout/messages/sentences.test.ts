import { expect, it } from 'vitest';
import { counted } from '../../../../src/rollout/messages/sentences.ts';

it.each([
  [0, '0 collectors wait'],
  [1, '1 collector waits'],
  [1_023, '1,023 collectors wait'],
  [1_000_000, '1,000,000 collectors wait'],
])('%i is counted in groups of digits, with the verb of its number', (count, words) => {
  expect(counted(count, 'collector waits', 'collectors wait')).toBe(words);
});
