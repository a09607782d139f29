import { expect, it } from 'vitest';
import { blockerText } from '../../../../src/rollout/messages/blockers.ts';
import { configText } from '../../../../src/rollout/messages/config-texts.ts';
import { joinedText } from '../../../../src/rollout/messages/event-texts.ts';
import { rollbackFacts } from '../../../../src/rollout/messages/rollback-previews.ts';
import { counted } from '../../../../src/rollout/messages/sentences.ts';
import {
  implausibleText,
  stopSentences,
  unweighedText,
} from '../../../../src/rollout/messages/stop-causes.ts';
import { upgradeReasonText } from '../../../../src/rollout/messages/upgrade-reasons.ts';
import { aRollbackPreview } from '../../../support/fake-operations.ts';

it.each([
  [counted(0, 'wave'), '0 waves'],
  [counted(1, 'wave'), '1 wave'],
  [counted(1, 'collector waits', 'collectors wait'), '1 collector waits'],
  [counted(2, 'collector waits', 'collectors wait'), '2 collectors wait'],
  [joinedText(['web-1']), '1 late joiner: web-1'],
  [upgradeReasonText({ kind: 'createsUnanswered', creates: 1 }), '1 create request got no answer'],
  [upgradeReasonText({ kind: 'createsUnanswered', creates: 2 }), '2 create requests got no answer'],
  [configText('p', { kind: 'newest', others: 1 }), '1 daemon has another config of p'],
  [blockerText({ kind: 'concurrency', slots: 1, until: null }), 'the only slot is taken'],
  [blockerText({ kind: 'concurrency', slots: 2, until: null }), 'all 2 slots are taken'],
  [implausibleText({ kind: 'empty', expected: 1 }), '1 collector is expected'],
  [implausibleText({ kind: 'short', size: 1, before: 9 }), 'it lists 1 collector, 9 before'],
  [
    stopSentences.onlyHeldStrata({ kind: 'onlyHeldStrata', upgrades: 1, labels: ['a'] }),
    '1 collector of held strata waits (a)',
  ],
  [unweighedText(['rack']), '1 field of the collectors is not weighed'],
  [
    rollbackFacts(aRollbackPreview({ running: 1 }), false)
      .map(([, words]) => words)
      .join(),
    '1 of them is still being upgraded',
  ],
])('a message is in the singular or plural: %s', (words, expected) => {
  expect(words).toContain(expected);
});
