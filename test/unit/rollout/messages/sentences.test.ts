import { expect, it } from 'vitest';
import { counted } from '../../../../src/rollout/messages/sentences.ts';
import { upgradeReasonText } from '../../../../src/rollout/messages/upgrade-reasons.ts';

it.each([
  [0, '0 collectors wait'],
  [1, '1 collector waits'],
  [1_023, '1,023 collectors wait'],
  [1_000_000, '1,000,000 collectors wait'],
])('%i is counted in groups of digits, with the verb of its number', (count, words) => {
  expect(counted(count, 'collector waits', 'collectors wait')).toBe(words);
});

it.each([
  [2, 'attempt 2 of 2: the service gave no reason'],
  [3, 'attempt 3: the service gave no reason'],
])('attempt %i names the attempts of the policy unless an operator asked for more', (attempts, words) => {
  const last = { kind: 'task', message: '' } as const;
  expect(upgradeReasonText({ kind: 'attemptsSpent', attempts, attemptsMax: 2, last })).toBe(words);
});
