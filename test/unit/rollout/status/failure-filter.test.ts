import { describe, expect, it } from 'vitest';
import type { UpgradeFailureClass } from '../../../../src/base/vocabulary.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import {
  makeFailureFilter,
  shownCauseOf,
  summarizeFailed,
} from '../../../../src/rollout/status/failure-filter.ts';
import { because } from '../../../support/builders.ts';
import { anEndedOne, aRetryingOne } from '../../../support/upgrade-cases.ts';

const aFailed = (
  state: 'failed' | 'timedOut' | 'unconfirmed',
  failureClass: UpgradeFailureClass,
  reason: string,
): Upgrade => anEndedOne(state, { failureClass, reason: because(reason) });

const disabled = aFailed('failed', 'permanent', 'upgrades are disabled; do not retry');
const noSpace = aFailed('failed', 'retry', 'attempt 3 of 3: no space left on device');
const slow = aFailed('failed', 'retry', 'attempt 3 of 3: time-out while checking privileges');
const timedOut = aFailed('timedOut', 'timedOut', 'no end within 35m');
const lost = aFailed('unconfirmed', 'unconfirmed', 'not alive again within 10m');
const spent = aFailed('failed', 'retry', 'attempt 3 of 3: the upgrade timed out');
const failed = [disabled, noSpace, slow, timedOut, lost, spent];

describe('the word given with `retry --cause`', () => {
  it.each<[string, readonly Upgrade[]]>([
    ['permanent', [disabled]],
    // The name of a class means the class alone, whatever reasons say.
    ['retry', [noSpace, slow, spent]],
    ['timed out', [timedOut, spent]],
    ['Timed-Out', [timedOut, spent]],
    ['timedOut', [timedOut]],
    // As it is called in texts: the state, and the cause.
    ['timeout', [slow, timedOut]],
    ['time-out', [slow, timedOut]],
    ['failed', [disabled, noSpace, slow, spent]],
    ['No space left', [noSpace]],
    ['no end within 35m', [timedOut]],
    // As the text of a cause, whose upgrades differ there.
    ['attempt … of 3: …', [noSpace, slow, spent]],
    ['attempt … space', [noSpace]],
    ['space … attempt', []],
    ['…', []],
  ])('%j means what is shown so', (word, meant) => {
    expect(failed.filter((each) => makeFailureFilter(word)(shownCauseOf(each)))).toEqual(meant);
  });

  it('matches no upgrade that has not failed', () => {
    const withdrawn = anEndedOne('withdrawn', { reason: because('disabled') });
    const retrying = aRetryingOne(0, 'no space left');
    for (const word of ['disabled', 'no space'])
      expect([withdrawn, retrying].map(shownCauseOf).filter(makeFailureFilter(word))).toEqual([]);
  });
});

it('failed upgrades are counted by class and by reason, the most frequent first', () => {
  expect(summarizeFailed([disabled, noSpace, noSpace])).toEqual({
    classes: [
      { failureClass: 'retry', count: 2 },
      { failureClass: 'permanent', count: 1 },
    ],
    reasons: [
      { reason: 'attempt 3 of 3: no space left on device', count: 2 },
      { reason: 'upgrades are disabled; do not retry', count: 1 },
    ],
    moreReasons: 0,
  });
  const many = Array.from({ length: 7 }, (_each, at) => aFailed('failed', 'permanent', `cause ${at}`));
  expect(summarizeFailed(many)).toMatchObject({ classes: [{ count: 7 }], moreReasons: 2 });
});
