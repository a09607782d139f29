import { expect, it } from 'vitest';
import { blockerWords } from '../../../../src/rollout/messages/blockers.ts';
import { configWords } from '../../../../src/rollout/messages/configs.ts';
import { joinedWords } from '../../../../src/rollout/messages/events.ts';
import { rollbackFacts } from '../../../../src/rollout/messages/rollback-previews.ts';
import { counted } from '../../../../src/rollout/messages/sentences.ts';
import {
  implausibleWords,
  stopSentences,
  unweighedWords,
} from '../../../../src/rollout/messages/stop-causes.ts';
import { upgradeReasonWords } from '../../../../src/rollout/messages/upgrade-reasons.ts';
import { aRollbackPreview } from '../../../support/fake-operations.ts';

it.each([
  [counted(0, 'wave'), '0 waves'],
  [counted(1, 'wave'), '1 wave'],
  [counted(1, 'collector waits', 'collectors wait'), '1 collector waits'],
  [counted(2, 'collector waits', 'collectors wait'), '2 collectors wait'],
  [joinedWords(['web-1']), '1 late joiner: web-1'],
  [upgradeReasonWords({ kind: 'createsUnanswered', creates: 1 }), '1 create request got no answer'],
  [upgradeReasonWords({ kind: 'createsUnanswered', creates: 2 }), '2 create requests got no answer'],
  [configWords('p', { kind: 'newest', others: 1 }), '1 daemon has another config of p'],
  [blockerWords({ kind: 'concurrency', slots: 1, until: null }), 'the only slot is taken'],
  [blockerWords({ kind: 'concurrency', slots: 2, until: null }), 'all 2 slots are taken'],
  [implausibleWords({ kind: 'empty', expected: 1 }), '1 collector is expected'],
  [implausibleWords({ kind: 'short', size: 1, before: 9 }), 'it lists 1 collector, 9 before'],
  [
    stopSentences.onlyHeldStrata({ kind: 'onlyHeldStrata', upgrades: 1, labels: ['a'] }),
    '1 collector of held strata waits (a)',
  ],
  [unweighedWords(['rack']), '1 field of the collectors is not weighed'],
  [
    rollbackFacts(aRollbackPreview({ running: 1 }))
      .map(([, words]) => words)
      .join(),
    '1 of them is still being upgraded',
  ],
])('a message is in the singular or plural: %s', (words, expected) => {
  expect(words).toContain(expected);
});
