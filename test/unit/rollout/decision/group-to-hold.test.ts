import { describe, expect, it } from 'vitest';
import type { RolloutStatus, SharedAttribute } from '../../../../src/contract/admin/rollout-status.ts';
import { advisesEndWithoutStrata, groupToHoldFirst } from '../../../../src/rollout/decision/group-to-hold.ts';
import { aRolloutStatus, aWaveStatus, countsOf } from '../../../support/fake-operations.ts';
import { aCause, aHeldStratum, strataHolding } from '../../../support/status-parts.ts';

type CauseGroup = RolloutStatus['causes'][number];
type Counted = readonly [text: string, count: number];

const others = { count: 0, causes: 0, unread: 0 };

function causesOf(of: CauseGroup['of'], ...counted: readonly Counted[]): CauseGroup {
  const total = counted.reduce((sum, [, count]) => sum + count, 0);
  return { of, total, causes: counted.map(([text, count]) => aCause({ text, count })), others };
}

const crash = 'service crashed';
const windows: SharedAttribute = {
  attributes: [{ key: 'osName', value: 'Windows*' }],
  ...{ failed: 3, tried: 3, elsewhere: { failed: 0, tried: 24 }, share: 0.2 },
};
const ofCrash = { ...windows, cause: { of: 'failed', text: crash, ended: 3 } } as const;
const retried = (failed: number, ended: number) =>
  ({ ...windows, failed, cause: { of: 'retrying', text: crash, ended } }) as const;

describe('the group to hold before a resume', () => {
  const failed = causesOf('failed', [crash, 3]);

  it.each<[string, SharedAttribute, readonly CauseGroup[], boolean]>([
    ['all that failed', windows, [failed], true],
    ['all, while more attempts are retried', ofCrash, [failed, causesOf('retrying', ['timeout', 9])], true],
    ['half of those that failed', ofCrash, [causesOf('failed', [crash, 3], ['no disk', 3])], false],
    [
      'all, also of its own retried attempts',
      retried(4, 3),
      [failed, causesOf('retrying', [crash, 1], ['timeout', 9])],
      true,
    ],
    ['only attempts that are retried', retried(9, 0), [failed, causesOf('retrying', ['timeout', 9])], false],
    ['all attempts, where none has failed', retried(9, 0), [causesOf('retrying', ['timeout', 9])], true],
  ])('explains %s', (_what, sharedAttribute, causes, isFirst) => {
    const status = aRolloutStatus({ state: 'held', sharedAttribute, causes });
    expect(groupToHoldFirst(status)).toBe(isFirst ? 'osName=Windows*' : undefined);
  });

  it('is none while the rollout is rolling back, which starts nothing', () => {
    const failing = { sharedAttribute: windows, causes: [failed] };
    expect(groupToHoldFirst(aRolloutStatus({ state: 'rollingBack', ...failing }))).toBeUndefined();
  });

  it('is judged without failures of held strata, which do not count', () => {
    const status = aRolloutStatus({
      ...{ state: 'held', causes: [causesOf('failed', [crash, 13])] },
      sharedAttribute: { ...windows, apartFromHeld: true },
    });
    expect(groupToHoldFirst(status)).toBeUndefined();
    const strata = strataHolding(aHeldStratum({ label: 'fields.rack=r7', failed: 10 }));
    expect(groupToHoldFirst({ ...status, strata })).toBe('osName=Windows*');
  });
});

it('an end without held strata is a way on only where collectors of one that waits have failed', () => {
  const onlyHeld = {
    state: 'held',
    reasonKind: 'onlyHeldStrata',
    counts: countsOf({ pending: 4 }),
    waves: [aWaveStatus({ setAside: 4 })],
  } as const;
  const waiting = aHeldStratum({ label: 'AIX', waiting: 4 });
  const failed = { ...waiting, failed: 2 };
  const endsIn = (changes: Partial<RolloutStatus>, ...held: RolloutStatus['strata']['held']) =>
    advisesEndWithoutStrata(aRolloutStatus({ ...onlyHeld, ...changes, strata: strataHolding(...held) }));
  expect(endsIn({}, aHeldStratum(), failed)).toBe(true);
  expect(endsIn({}, waiting)).toBe(false);
  expect(endsIn({}, { ...waiting, by: 'bob' })).toBe(true);
  expect(endsIn({}, waiting, { ...failed, label: 'HP-UX', waiting: 0 })).toBe(false);
  // A resume starts others.
  expect(endsIn({ counts: countsOf({ pending: 5 }) }, failed)).toBe(false);
  expect(endsIn({ reasonKind: 'failures' }, failed)).toBe(false);
});
