import { describe, expect, it } from 'vitest';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import { type RolloutView, rolloutStates } from '../../../../src/rollout/model/rollout.ts';
import { endStates, type Upgrade, upgradeStates } from '../../../../src/rollout/model/upgrade.ts';
import { explainUpgrade } from '../../../../src/rollout/status/explain.ts';
import {
  anUpgrade,
  anUpgradingOne,
  askedFor,
  because,
  startedAt as now,
  someGroups,
} from '../../../support/builders.ts';
import {
  aDeferredOne,
  anEndedOne,
  aQueuedOne,
  aRetryingOne,
  aStartingOne,
  aVerifyingOne,
} from '../../../support/upgrade-cases.ts';
import { aHeldStratum, aViewOf, type ViewCase, waiting } from '../../../support/view-cases.ts';

const minute = 60_000;
const rest = { counts: { pending: 20 } };
const passed = [{ name: 'canary', counts: { succeeded: 5 }, wave: { state: 'passed' } }, rest] as const;
const soaking = { state: 'soaking', soakEndsAt: now + 10 * minute } as const;

/** A canary that soaks until ten minutes from now, and a second wave; lanes in UTC and in Tokyo. */
const soaks = (changes: ViewCase = {}): RolloutView =>
  aViewOf({
    waves: [
      { name: 'canary', counts: { succeeded: 5 }, rule: { soakMs: 10 * minute }, wave: soaking },
      { ...rest, wave: waiting },
    ],
    groups: someGroups({
      strata: [
        { label: 'Linux', sizes: [5, 10] },
        { label: 'Windows', sizes: [0, 10] },
      ],
      lanes: [
        { stratum: 0, timeZone: 'Etc/UTC', domains: [] },
        { stratum: 1, timeZone: 'Asia/Tokyo', domains: [] },
        { stratum: 0, timeZone: 'Etc/UTC', domains: [0] },
      ],
      domains: [{ label: 'fields.cluster = db', cap: 1 }],
    }),
    ...changes,
  });
/** The same with its second wave open. */
const opened = (changes: ViewCase = {}) => soaks({ waves: passed, ...changes });

const pending = (changes: Parameters<typeof anUpgrade>[1] = {}) =>
  anUpgrade({ state: 'pending' }, { wave: 1, ...changes });
const retrying = (dueAt: number) => aRetryingOne(dueAt, 'download failed', { wave: 1 });
const inTokyo = pending({ stratum: 1, lane: 1 });
const windows = [
  { days: [1, 2, 3, 4, 5, 6, 7], fromMinute: 20 * 60, toMinute: 22 * 60, timeZone: 'collector' },
];
const heldStrata = [aHeldStratum(1, { label: 'Windows' })];
const buildHold = { build: 'b', by: 'ann', reason: 'breaks logs', at: now };
const heldRollout = { state: 'held', reason: askedFor('too many failures') } as const;

it('an upgrade whose create got no answer keeps its slot in a paused rollout, until a known end (P2)', () => {
  const inDoubtUntil = now + 30 * minute;
  const queued = aQueuedOne({}, { createsInDoubt: 1, inDoubtUntil });
  const view = opened({ rollout: { state: 'paused', reason: askedFor('careful') } });
  expect(explainUpgrade(view, queued, now)).toEqual({
    reason: 'has a slot, and is polled: an earlier create got no answer, so that its task may be running',
    until: inDoubtUntil,
  });
  expect(explainUpgrade(view, queued, inDoubtUntil).reason).not.toContain('no answer');
});

it('a refused upgrade in doubt shows its refusal, which a poll settles first', () => {
  const refused = { of: 'collector', detail: 'the disk is full' } as const;
  const queued = aQueuedOne({ refused }, { createsInDoubt: 1, inDoubtUntil: now + 30 * minute });
  expect(explainUpgrade(opened({}), queued, now).reason).toContain('the disk is full');
});

describe('after an outage of Redis', () => {
  const createsWait = { isLost: true, unconfirmed: 0, until: now + 35_000 };
  const words =
    'after an outage of Redis no create request is sent until all earlier ones have arrived: Redis lost its last writes';
  const shown = { reason: words, until: createsWait.until };

  it.each([
    ['is pending', pending(), shown],
    ['has a slot', aQueuedOne(), shown],
  ])('a collector that %s waits for earlier creates, with an end (P16)', (_what, upgrade, expected) => {
    expect(explainUpgrade(opened({ createsWait }), upgrade, now)).toEqual(expected);
  });

  it('a running upgrade does not wait', () => {
    const running = anUpgradingOne({ dueAt: now + 1 });
    expect(explainUpgrade(opened({ createsWait }), running, now).reason).not.toBe(words);
  });
});

describe('why a collector waits', () => {
  const itsGate = 'its wave rest waits for: gate of canary';
  const itsStratum = 'stratum Windows is held by alice: why';
  const itsCap = 'fields.cluster = db: all slots of this cap (1) are taken';
  const itsRetry = 'is next in line; it is due for a retry: download failed';
  const itsHold =
    'the rollout is held: by alice: too many failures; it is waiting for a retry: download failed';
  const heldStratum = soaks({ rollout: { strata: { held: heldStrata } } });
  const paused = soaks({ rollout: { strata: { held: heldStrata }, state: 'paused' } });
  const windowed = opened({ policy: { windows } });
  const freezes = [
    { from: '2026-03-03T12:00', to: '2026-03-04T00:00', reason: 'fair', timeZone: 'Asia/Tokyo' },
  ];
  const hour = 60 * minute;
  const utcText = (at: number) => new Date(at).toISOString().slice(0, 16);
  const fair = {
    ...{ from: utcText(now + 5 * minute), to: utcText(now + hour) },
    ...{ reason: 'fair', timeZone: 'Etc/UTC' },
  };
  const itsFair = `${itsGate}; frozen: fair in Etc/UTC`;
  const frozen = opened({ policy: { windows, freezes } });
  const itsFreeze = 'outside the window in Asia/Tokyo; the next window begins in a freeze: fair';
  const capped = opened({ domainsTaken: new Map([[0, 1]]) });
  const held = opened({ rollout: heldRollout });
  const pace = { perHour: 2, from: 2, factor: 1, after: 1 };
  const paced = opened({ policy: { pace }, pacedForMs: 30 * minute });
  const itsPace = 'the pace allows 2 starts an hour';

  it.each<[string, RolloutView, Upgrade, string, number | null]>([
    ['its wave, and when that may begin', soaks(), pending(), itsGate, now + 10 * minute],
    ['its held stratum', heldStratum, inTokyo, itsStratum, null],
    ['its held stratum before anything else', paused, inTokyo, itsStratum, null],
    ['nothing of the held stratum of others', heldStratum, pending(), itsGate, now + 10 * minute],
    [
      'its wave, and the freeze after it',
      soaks({ policy: { freezes: [fair] } }),
      pending(),
      itsFair,
      now + hour,
    ],
    ['its own window', windowed, inTokyo, 'outside the window in Asia/Tokyo', now + 14 * 60 * minute],
    ['the freeze in which its next window begins', frozen, inTokyo, itsFreeze, now + 38 * 60 * minute],
    ['its cap', capped, pending({ lane: 2, domains: [0] }), itsCap, null],
    ['the slots when all are taken', opened({ slotsTaken: 10 }), pending(), 'all 10 slots are taken', null],
    ['the pace when that is used up', paced, pending(), itsPace, now + 30 * minute],
    ['its turn when one is free', opened({ slotsTaken: 9 }), pending(), 'is next in line', null],
    ['the held build', opened({ buildHold }), pending(), 'build b is held: breaks logs', null],
    ['the instant of its retry', opened(), retrying(now + 1), 'will be retried: download failed', now + 1],
    ['its turn when its retry is due', opened(), retrying(now), itsRetry, null],
    ['the hold of its rollout, in which no retry starts', held, retrying(now + 1), itsHold, null],
  ])('is %s', (_what, view, upgrade, reason, until) => {
    expect(explainUpgrade(view, upgrade, now)).toEqual({ reason, until });
  });

  it('is a resume, once the strata are released for which its rollout was held', () => {
    const reason = { kind: 'onlyHeldStrata', upgrades: 2, labels: ['Windows'] } as const;
    const of = opened({ rollout: { state: 'held', reason } });
    expect(explainUpgrade(of, pending(), now).reason).toMatch(
      /^the rollout is held: stratum Windows is released: \d+ collectors? can start after a resume$/,
    );
  });

  it('is never a blocker of other collectors only', () => {
    const candidates = [
      { lane: 0, retries: [], pending: [1, 2, 3, 4, 5].map((id) => ({ collectorId: id, order: id })) },
      { lane: 1, retries: [], pending: [{ collectorId: 6, order: 6 }] },
    ];
    const of = opened({ candidates, policy: { windows, concurrency: 4 } });
    // Four of lane 0 get a slot now; the fifth waits for its turn, and not for a window in Tokyo.
    expect(decide(of, now).blockers).toHaveLength(1);
    expect(explainUpgrade(of, pending({ collectorId: 5, order: 5 }), now).reason).not.toMatch(/Tokyo/);
  });
});

it('a failed upgrade names what tries it again, while the rollout can', () => {
  const failed = anEndedOne('failed', { reason: because('no space') });
  const reasonIn = (view: RolloutView) => explainUpgrade(view, failed, now).reason;
  const again = '`upwave retry production`';
  expect(reasonIn(opened())).toBe(`failed: no space; ${again} tries it again`);
  expect(reasonIn(opened({ rollout: heldRollout }))).toContain('tries it again after a resume');
  const strata = { held: [aHeldStratum(failed.identity.stratum, { label: 'Linux' })] };
  expect(reasonIn(opened({ rollout: { strata } }))).toMatch(
    /^failed: no space; stratum Linux is held by alice: why; `upwave release Linux` and `upwave retry production` try it again$/,
  );
  expect(reasonIn(opened({ rollout: { state: 'rollingBack' } }))).toBe('failed: no space');
  expect(reasonIn(opened({ rollout: { state: 'aborted' } }))).toBe('failed: no space');
});

it('a collector that failed twice is not said to have failed three times', () => {
  const reason = { kind: 'unexplainedTwice', last: because('no space') } as const;
  const failed = anEndedOne('failed', { reason });
  expect(explainUpgrade(opened(), failed, now).reason).toMatch(/^failed twice: no space; /);
});

describe('every state of an upgrade', () => {
  const at = now + 5 * minute;
  const timed: readonly Upgrade[] = [
    ...[anUpgradingOne({ dueAt: at }), aVerifyingOne({ verifyBy: at })],
    ...[aRetryingOne(at, 'no space'), aDeferredOne({ since: at - 12 * 60 * minute })],
  ];
  const untimed: readonly Upgrade[] = [
    ...[aQueuedOne(), aStartingOne()],
    ...endStates.map((state) => anEndedOne(state, { reason: because(`why ${state}`) })),
  ];
  const each = [anUpgrade({ state: 'pending' }), ...timed, ...untimed];

  it.each(rolloutStates)('is explained in a rollout that is %s', (state) => {
    expect(each.map(({ progress }) => progress.state).toSorted()).toEqual([...upgradeStates].toSorted());
    for (const upgrade of [...each, anUpgradingOne({ taskId: null })]) {
      for (const endedAt of [null, now]) {
        const of = soaks({ rollout: { state, reason: askedFor('why'), endedAt } });
        const { reason } = explainUpgrade(of, upgrade, now);
        expect(reason.trim(), upgrade.progress.state).not.toBe('');
        expect(reason).not.toMatch(/undefined|null| {2}/);
      }
    }
  });

  it('is explained with the instant at which it ends', () => {
    // Of a deferred one, that is its end: the polls until then tell a person nothing.
    const of = soaks({ policy: { defer: { upToMs: 12 * 60 * minute } } });
    const untilOf = (upgrade: Upgrade) => explainUpgrade(of, upgrade, now).until;
    expect(timed.map(untilOf)).toEqual(timed.map(() => at));
    expect(untimed.map(untilOf)).toEqual(untimed.map(() => null));
  });
});
