import { describe, expect, it } from 'vitest';
import { makeObservations } from '../../../../src/orchestrator/watch/observations.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import { evolve, nextStep, verdictOnRow } from '../../../../src/rollout/upgrade/evolve.ts';
import type { RowObservation } from '../../../../src/rollout/upgrade/facts.ts';
import {
  aCollector,
  aContext,
  anUpgrade,
  aPolicy,
  because,
  oldBuild,
  startedAt as t,
  targetBuild,
} from '../../../support/builders.ts';
import { aQueuedOne } from '../../../support/upgrade-cases.ts';

const offeredAt = t + 2_000;
const now = t + 300_000;
/** By then a list shows a collector that was admitted without a row. */
const listedBy = now + 9_000;
const recheck = { do: 'pollCollector', why: 'recheck', askUpgradable: false };
const pending = anUpgrade({ state: 'pending' }, { eligibleAt: t, offeredAt });

/** One that is admitted with such a row of the inventory. */
function admittedWith(changes: Partial<RowObservation> | null, upgrade = pending, trustedSince = 0): Upgrade {
  const at = now - 10_000;
  const row = { at, build: oldBuild, alive: true, lastSeenAlive: at - 5_000, serviceAt: at };
  const seen = changes === null ? undefined : { ...row, ...changes };
  return evolve(
    upgrade,
    { kind: 'admitted', at: now, startBy: null, changes: 0, seen, trustedSince },
    aContext(),
  );
}

describe('a collector that is admitted right after an inventory page has shown it', () => {
  it('starts without a poll of its own', () => {
    expect(nextStep(admittedWith({}), now)).toEqual({ do: 'start' });
    expect(nextStep(admittedWith(null), now)).toEqual({ do: 'wait', until: listedBy });
    expect(nextStep(admittedWith(null), listedBy)).toEqual(recheck);
  });

  it('is polled when the page is a minute old by the time its create may be sent (P1)', () => {
    expect(nextStep(admittedWith({}), now + 50_001)).toEqual(recheck);
  });

  it.each([
    ['it was not alive', { alive: false }],
    ['it was late, so that it may be restarting', { lastSeenAlive: now - 31_000 }],
    ['its heartbeat is older than the offer', { lastSeenAlive: offeredAt, serviceAt: offeredAt + 1_000 }],
    ['it shows no heartbeat', { lastSeenAlive: null }],
    ['the service sends no time', { serviceAt: null }],
    ['it runs the build', { build: targetBuild }],
  ])('is polled when %s (P1)', (_why, changes) => {
    expect(nextStep(admittedWith(changes), listedBy)).toEqual(recheck);
  });

  it('is polled when an earlier create was in doubt, or failed (P1)', () => {
    const inDoubt = { ...pending, tally: { ...pending.tally, createsInDoubt: 1 } };
    const retrying = { state: 'retrying', dueAt: t, reason: because('download failed') } as const;
    for (const upgrade of [inDoubt, { ...pending, progress: retrying }])
      expect(nextStep(admittedWith({}, upgrade), listedBy)).toEqual(recheck);
  });
});

describe('a collector that was planned before a data loss, and whose upgrade may be running (P1)', () => {
  const context = aContext();
  const trustedSince = now - 20_000 - context.answerWithinMs;
  const listed = { at: now - 20_000, offeredAt: now - 18_000 };
  const stepOf = (changes: Partial<RowObservation>, since = trustedSince, upgrade = pending) =>
    nextStep(admittedWith(changes, upgrade, since), listedBy, since);
  const pollWithList = { ...recheck, askUpgradable: true };

  it('starts without a poll once an upgradable list has shown it before its last heartbeat', () => {
    expect(stepOf({ offered: listed })).toEqual({ do: 'start' });
    const unheard = { ...pending, identity: { ...pending.identity, eligibleAt: 0 } };
    expect(stepOf({ offered: listed }, trustedSince, unheard)).toEqual({ do: 'start' });
  });

  it.each([
    ['no list has shown it', { offered: undefined }, trustedSince],
    ['the list was read before a lost create could have arrived', { offered: listed }, trustedSince + 1],
    ['the list is a minute older than the row', { offered: { ...listed, at: now - 70_001 } }, now - 200_000],
    [
      'its heartbeat is older than the list',
      { offered: { ...listed, offeredAt: now - 15_000 } },
      trustedSince,
    ],
  ])('is polled with the list when %s', (_why, changes, since) => {
    expect(stepOf(changes, since)).toEqual(pollWithList);
  });

  it('is known from pages: the last list that has shown it before a heartbeat', () => {
    const observations = makeObservations();
    const note = (at: number, heartbeatAt: number, listedAt?: number) =>
      observations.note(
        { collectors: [aCollector({ id: 7, lastSeenAlive: heartbeatAt })], serviceAt: at },
        at,
        listedAt,
      );
    const offered = () => observations.find(7, now)?.offered;
    note(now - 40_000, now - 45_000, now - 40_100);
    expect(offered()).toBeUndefined();
    note(now - 35_000, now - 39_000, now - 35_100);
    expect(offered(), 'heard within the second of its date').toBeUndefined();
    note(now - 30_000, now - 31_000);
    expect(offered()).toEqual({ at: now - 40_100, offeredAt: now - 39_000 });
    note(now - 20_000, now - 21_000, now - 20_100);
    note(now - 10_000, now - 11_000);
    expect(offered()).toEqual({ at: now - 20_100, offeredAt: now - 19_000 });
  });
});

describe('an upgrade that waits for a heartbeat', () => {
  const waiting = aQueuedOne({ dueAt: t + 18_000, heartbeatAfter: offeredAt });
  const at = t + 10_000;
  const row = { build: oldBuild, alive: true, lastSeenAlive: t + 5_000, serviceAt: at };
  const judged = (changes: Partial<typeof row>, trustedSince = 0) =>
    verdictOnRow(
      waiting,
      { ...row, ...changes },
      {
        at,
        periodMs: 20_000,
        policy: aPolicy(),
        trustedSince,
        isOfferRead: true,
      },
    );

  it('starts when a page shows it', () => {
    expect(judged({})).toBe('collectorSeen');
    const seen = evolve(waiting, { kind: 'collectorSeen', at, ...row, upgradable: null }, aContext());
    expect(nextStep(seen, at)).toEqual({ do: 'start' });
  });

  it('is polled no more when a page shows the target build', () => {
    expect(judged({ build: targetBuild })).toBe('collectorSeen');
  });

  it('waits for the next page while the last heartbeat is too old, and is polled when no page comes', () => {
    expect(judged({ lastSeenAlive: offeredAt })).toBe('unchanged');
    const dueAt = at + 40_000;
    const unchanged = evolve(waiting, { kind: 'unchanged', at, until: dueAt }, aContext());
    expect(unchanged).toMatchObject({ progress: { state: 'queued', heartbeatAfter: offeredAt, dueAt } });
    expect(nextStep(unchanged, dueAt)).toEqual(recheck);
  });

  it('is polled when it falls silent, or when Redis has lost data since (P1)', () => {
    expect(judged({ lastSeenAlive: at - 31_000 })).toBe('none');
    expect(judged({}, t + 1)).toBe('none');
  });
});

describe('the rows of inventory pages', () => {
  it('are forgotten when the collector is gone, and when no page is read any more', () => {
    const observations = makeObservations();
    const page = (from: number) => ({
      collectors: Array.from({ length: 1_000 }, (_, index) => aCollector({ id: from + index })),
      serviceAt: t,
    });
    for (let minute = 0; minute < 60; minute += 1)
      observations.note(page(minute * 1_000), t + minute * 60_001);
    expect(observations.size()).toBe(1_000);
    expect(observations.find(59_000, t + 60 * 60_001)).toBeUndefined();
    expect(observations.size()).toBe(0);
  });

  it('are kept for a minute, the newest of each collector, also when the clock is set back', () => {
    const observations = makeObservations();
    const page = (build: string) => ({ collectors: [aCollector({ id: 7, build })], serviceAt: t });
    observations.note(page(oldBuild), t);
    observations.note(page(targetBuild), t + 1_000);
    expect(observations.find(7, t + 61_000)).toMatchObject({ at: t + 1_000, build: targetBuild });
    expect(observations.find(7, t + 61_001)).toBeUndefined();
    expect(observations.find(7, t - 59_001)).toBeUndefined();
    expect(observations.find(8, t)).toBeUndefined();
  });
});
