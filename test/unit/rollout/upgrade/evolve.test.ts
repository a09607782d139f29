import { describe, expect, it } from 'vitest';
import {
  dueAtOf,
  endStates,
  type Upgrade,
  type UpgradeState,
} from '../../../../src/rollout/model/upgrade.ts';
import { evolve, nextStep, verdictOnOffer } from '../../../../src/rollout/upgrade/evolve.ts';
import type { UpgradeFact } from '../../../../src/rollout/upgrade/facts.ts';
import { freshForMs } from '../../../../src/rollout/upgrade/step.ts';
import {
  aContext,
  anUpgrade,
  anUpgradingOne,
  aPolicy,
  because,
  oldBuild,
  startedAt as t,
  targetBuild,
} from '../../../support/builders.ts';
import { lossless } from '../../../support/lossless.ts';
import {
  aDeferredOne,
  afterFacts,
  anEndedOne,
  aQueuedOne,
  aRetryingOne,
  aStartingOne,
  createFailed,
  createRefused,
  collectorSeen as seen,
} from '../../../support/upgrade-cases.ts';

const minutes = 60_000;
const hours = 60 * minutes;

const pending = anUpgrade({ state: 'pending' });
const queued = aQueuedOne();
const starting = aStartingOne();
const running = anUpgradingOne();
const reason = because('so');

const admitted = (at = t, startBy: number | null = null): UpgradeFact => ({
  kind: 'admitted',
  at,
  startBy,
  changes: 0,
});
const taskSeen = (status: number, message = '', at = t + 5 * minutes): UpgradeFact => ({
  ...{ kind: 'taskSeen', at, status, message },
  serviceAt: at,
});
const unavailable = (sent: boolean) => createFailed({ kind: 'unavailable', sent, detail: '' });
const misconfigured = createFailed({ kind: 'misconfigured', detail: '403' });
/** On its old build, heard from right now, and on offer: the service would start an upgrade of it. */
const offered = (at: number) => seen({ upgradable: true, lastSeenAlive: at }, at);
const stateAfter = (upgrade: Upgrade, ...facts: readonly UpgradeFact[]) =>
  afterFacts(upgrade, ...facts).progress.state;

describe('an upgrade without failures', () => {
  it('goes pending, queued, starting, upgrading, verifying, succeeded', () => {
    const facts: readonly (readonly [UpgradeFact, UpgradeState])[] = [
      [admitted(), 'queued'],
      [{ kind: 'createSent', at: t }, 'starting'],
      [{ kind: 'created', at: t + 100, taskId: '77' }, 'upgrading'],
      [taskSeen(0), 'upgrading'],
      [taskSeen(1), 'upgrading'],
      [taskSeen(6), 'upgrading'],
      [taskSeen(2), 'verifying'],
      [seen({ build: targetBuild, lastSeenAlive: t + 5 * minutes + 15_000 }, t + 6 * minutes), 'succeeded'],
    ];
    let upgrade = pending;
    for (const [fact, state] of facts) {
      upgrade = afterFacts(upgrade, fact);
      expect(upgrade.progress.state).toBe(state);
    }
    expect(upgrade.tally.attempts).toBe(1);
  });
});

describe('verification (P10)', () => {
  const verifying = afterFacts(running, taskSeen(2));

  it('needs the build', () => {
    const at = t + 6 * minutes;
    expect(stateAfter(verifying, seen({ lastSeenAlive: at }, at))).toBe('verifying');
  });

  it('restarts the deadline when the first poll comes after it, and the service sends no time', () => {
    const blind = afterFacts(running, { kind: 'taskSeen', at: t, status: 2, message: '', serviceAt: null });
    const late = t + 11 * minutes;
    const shows = (lastSeenAlive: number | null, at: number, alive = true) =>
      seen({ build: targetBuild, serviceAt: null, lastSeenAlive, alive }, at);
    const once = afterFacts(blind, shows(late - 2_000, late));
    expect(once).toMatchObject({
      progress: { state: 'verifying', verifyBy: late + 10 * minutes, dueAt: late + 30_000 },
    });
    expect(stateAfter(once, shows(late + 28_000, late + 30_000))).toBe('succeeded');
    for (const lost of [
      afterFacts(once, shows(late - 2_000, late + 10 * minutes)),
      afterFacts(blind, shows(late - 2_000, late, false)),
      afterFacts(blind, shows(null, late)),
    ])
      expect(lost).toMatchObject({ progress: { lost: true } });
  });

  it('is unconfirmed, and weighs 1, when it came back on another build', () => {
    const late = t + 15 * minutes;
    expect(afterFacts(verifying, seen({ build: '19.500-1', lastSeenAlive: late }, late))).toMatchObject({
      progress: { state: 'unconfirmed', weight: 1 },
    });
  });
});

describe('a create that failed', () => {
  const deferred = (condition: 'notAlive' | 'inUpgrade') => ({ state: 'deferred', condition });
  it.each<[string, UpgradeFact, object]>([
    ['is repeated after a connect error, when nothing was done', unavailable(false), { state: 'queued' }],
    ['is repeated after a 429', createFailed({ kind: 'throttled', detail: '' }), { state: 'queued' }],
    ['stays in doubt when it may have been acted on', unavailable(true), { state: 'starting' }],
    ['defers a dead collector', createRefused('collector.not.alive'), deferred('notAlive')],
    ['defers what someone else upgrades', createRefused('collector.in.upgrading'), deferred('inUpgrade')],
    ['puts the collector back when all share the cause', misconfigured, { state: 'pending' }],
  ])('%s, and uses up no attempt', (_what, fact, progress) => {
    expect(afterFacts(starting, fact)).toMatchObject({ progress, tally: { attempts: 0 } });
  });
});

describe('a create in doubt (P1)', () => {
  const inDoubt = afterFacts(starting, unavailable(true));

  it('is resolved by observation', () => {
    expect(nextStep(inDoubt, t + minutes)).toEqual({
      do: 'pollCollector',
      why: 'settle',
      askUpgradable: true,
    });
    expect(stateAfter(starting, seen({ build: targetBuild }, t + minutes))).toBe('verifying');
  });

  it('is polled once it must have arrived, because an earlier poll could not settle it', () => {
    expect(inDoubt.progress).toMatchObject({ dueAt: t + aContext().answerWithinMs });
    const early = afterFacts(starting, offered(t + 34_000));
    expect(early.progress).toMatchObject({ state: 'starting', dueAt: t + aContext().answerWithinMs });
  });

  it('is sent again only when the service offers the upgrade, and the first create can no longer arrive', () => {
    expect(stateAfter(starting, offered(t + 34_000))).toBe('starting');
    expect(stateAfter(starting, offered(t + 36_000))).toBe('queued');
  });

  describe('that a list shows as never arrived, although its task may be running (P2)', () => {
    const settled = afterFacts(starting, offered(t + minutes));
    const failed = (at: number): UpgradeFact => ({
      ...{ kind: 'pollFailed', of: 'collector', at, othersAnswered: true },
      failure: { kind: 'unavailable', sent: true, detail: '' },
    });
    const putBack = (at: number): UpgradeFact => ({ kind: 'putBack', at, reason: { kind: 'windowCloses' } });
    const failedTwice = [failed(t + 2 * minutes), failed(t + 3 * minutes)];
    const deadline = t + 35 * minutes;

    it.each<[string, (at: number) => readonly UpgradeFact[], string]>([
      ['polls fail', (at) => [...failedTwice, failed(t + 4 * minutes), failed(at)], 'deferred'],
      ['it is not alive', (at) => [seen({ alive: false }, at)], 'deferred'],
      ['it is put back', (at) => [putBack(at)], 'pending'],
      ['it is held', (at) => [{ kind: 'withdrawn', at, reason: { kind: 'windowCloses' } }], 'withdrawn'],
    ])('keeps its slot until its deadline when %s', (_what, facts, state) => {
      expect(stateAfter(settled, ...facts(deadline - 1))).toBe('queued');
      expect(stateAfter(settled, ...facts(deadline))).toBe(state);
    });

    it('is adopted once a list leaves the collector out', () => {
      const leftOut = (at: number) => stateAfter(settled, seen({ upgradable: false, lastSeenAlive: at }, at));
      expect(leftOut(deadline - 1)).toBe('upgrading');
      expect(leftOut(deadline)).toBe('deferred');
    });
  });

  it('is sent again after the deadline when the service always shows late heartbeats', () => {
    const late = (at: number) => seen({ upgradable: true, serviceAt: at, lastSeenAlive: at - 30_000 }, at);
    expect(stateAfter(starting, late(t + 35 * minutes - 1))).toBe('starting');
    expect(afterFacts(starting, late(t + 35 * minutes))).toMatchObject({
      progress: { state: 'queued', freshAt: 0 },
    });
  });

  it('fails after ten creates without any effect', () => {
    let upgrade = starting;
    for (let n = 1; n <= 10; n += 1) {
      upgrade = afterFacts(upgrade, offered(t + n * minutes));
      if (upgrade.progress.state === 'queued') upgrade = afterFacts(upgrade, { kind: 'createSent', at: t });
    }
    expect(upgrade.progress.state).toBe('failed');
  });

  describe('that is adopted, because the service does not offer the upgrade', () => {
    const adopted = afterFacts(starting, seen({ upgradable: false }, t + minutes));
    const offeredAgain = (at: number, heardAgoMs: number) =>
      seen({ upgradable: true, serviceAt: at, lastSeenAlive: at - heardAgoMs }, at);

    it('uses up no attempt while the collector may be restarting from it', () => {
      const restarting = afterFacts(
        adopted,
        offeredAgain(t + 5 * minutes, 15_000),
        offeredAgain(t + 5.5 * minutes, 45_000),
      );
      expect(restarting).toMatchObject({
        progress: { state: 'upgrading', taskId: null },
        tally: { attempts: 0 },
      });
      expect(afterFacts(restarting, seen({ build: targetBuild }, t + 6 * minutes))).toMatchObject({
        progress: { state: 'verifying' },
        tally: { attempts: 0 },
      });
    });

    it('is over by its deadline, however late the heartbeats always are', () => {
      const deadlineAt = t + 35 * minutes;
      expect(stateAfter(adopted, offeredAgain(deadlineAt - 1, 30_000))).toBe('upgrading');
      expect(stateAfter(adopted, offeredAgain(deadlineAt, 30_000))).toBe('retrying');
    });

    it('is over once a list that left it out shows it twice, and not where lists show collectors in upgrade (P2)', () => {
      const shown = [1, 2, 3].map((at) => offeredAgain(t + at * 5 * minutes, 1_000));
      const unknown = anUpgradingOne({ taskId: null });
      const leftOut = (alive: boolean) => seen({ upgradable: false, alive }, t + 4 * minutes);
      expect(stateAfter(adopted, ...shown)).toBe('retrying');
      expect(stateAfter(unknown, ...shown)).toBe('upgrading');
      expect(stateAfter(unknown, leftOut(true), ...shown)).toBe('retrying');
      // A list leaves out who is not alive.
      expect(stateAfter(unknown, leftOut(false), ...shown)).toBe('upgrading');
      expect(stateAfter(unknown, offeredAgain(t + 35 * minutes, 1_000))).toBe('retrying');
    });
  });
});

describe('a task that failed', () => {
  const failed = (message: string, tally: { attempts?: number; unexplained?: number } = {}) =>
    afterFacts(anUpgradingOne({}, tally), taskSeen(3, message), seen({}, t + 5 * minutes));

  const retriedAfter = (wait: number) => ({ state: 'retrying', dueAt: t + (5 + wait) * minutes });
  const spent = { state: 'failed', reason: { kind: 'attemptsSpent', attempts: 3, attemptsMax: 3 } };
  it.each<[string, string, Parameters<typeof failed>[1], object]>([
    ['is retried when its cause passes', 'download failed', {}, retriedAfter(2)],
    ['is retried after a longer wait the second time', 'download failed', { attempts: 2 }, retriedAfter(6)],
    ['waits long when its cause passes slowly', 'disk is out of space', {}, retriedAfter(60)],
    ['fails at once when its cause is permanent', 'permission denied', {}, { state: 'failed' }],
    ['fails after the last attempt', 'download failed', { attempts: 3 }, spent],
    ['is retried once without an explanation', '', {}, { state: 'retrying' }],
    ['fails without one the second time', '', { attempts: 2, unexplained: 1 }, { state: 'failed' }],
  ])('%s', (_what, message, tally, progress) => {
    expect(failed(message, tally)).toMatchObject({ progress });
  });

  it('records that it had no explanation', () => {
    expect(failed('').tally.unexplained).toBe(1);
  });

  it('spreads retries by the jitter', () => {
    const ending = afterFacts(running, taskSeen(3, 'download failed'));
    expect(evolve(ending, seen({}, t + 5 * minutes), aContext({ jitter: 1 }))).toMatchObject({
      progress: { dueAt: t + 5 * minutes + 144_000 },
    });
  });
});

describe('a task without an end', () => {
  const at = t + 35 * minutes;

  it('has its collector polled once more at its deadline, and is then timed out', () => {
    const atDeadline = afterFacts(running, taskSeen(6, '', at));
    expect(atDeadline.progress.state).toBe('upgrading');
    expect(nextStep(atDeadline, at)).toMatchObject({ do: 'pollCollector', why: 'judge' });
    expect(afterFacts(atDeadline, seen({}, at))).toMatchObject({
      progress: { state: 'timedOut', weight: 1 },
    });
    expect(stateAfter(atDeadline, seen({ build: targetBuild }, at))).toBe('verifying');
  });

  it('is polled again when the clock of the daemon that saw its deadline was ahead (P2)', () => {
    const anHourAhead = afterFacts(running, taskSeen(6, '', t + 60 * minutes));
    const judged = afterFacts(anHourAhead, seen({}, t + 5 * minutes));
    expect(judged).toMatchObject({ progress: { state: 'upgrading', ending: null } });
    expect(nextStep(judged, at)).toMatchObject({ do: 'pollTask' });
    expect('dueAt' in judged.progress && judged.progress.dueAt).toBeLessThanOrEqual(at);
    expect(stateAfter(judged, taskSeen(2, '', t + 6 * minutes))).toBe('verifying');
  });

  it('is polled again when the service does not know it, until the deadline', () => {
    const failure = { kind: 'notFound', detail: '' } as const;
    const missing = afterFacts(running, { kind: 'pollFailed', at: t + minutes, of: 'task', failure });
    expect(afterFacts(missing, seen({}, t + minutes))).toMatchObject({
      progress: { state: 'upgrading', ending: null },
    });
    expect(stateAfter(missing, seen({}, at + minutes))).toBe('timedOut');
    expect(stateAfter(missing, seen({ build: targetBuild }, t + minutes))).toBe('verifying');
  });

  it('and with an unknown status is verified when its collector shows the build, and else polled more slowly (P10, P13)', () => {
    const polledAt = t + 10 * minutes;
    const unknown = afterFacts(running, taskSeen(4, '', polledAt));
    expect(unknown.progress).toMatchObject({ state: 'upgrading', dueAt: polledAt + 1.25 * minutes });
    expect(nextStep(unknown, polledAt + 2 * minutes)).toMatchObject({ do: 'pollCollector', why: 'judge' });
    const at = polledAt + 30_000;
    const row = { build: targetBuild, alive: true, lastSeenAlive: at, serviceAt: at };
    const context = { at, periodMs: 10_000, policy: aPolicy(), trustedSince: 0, isOfferRead: true };
    expect(verdictOnOffer(unknown, row, context)).toBe('collectorSeen');
    expect(verdictOnOffer(unknown, { ...row, build: oldBuild }, context)).toBe('none');
    // Only a newer heartbeat proves that the collector is back.
    const onBuild = afterFacts(unknown, { kind: 'collectorSeen', at, ...row, upgradable: null });
    expect(onBuild.progress.state).toBe('verifying');
    expect(stateAfter(onBuild, seen({ ...row, lastSeenAlive: at }, at + 1))).toBe('verifying');
    expect(stateAfter(onBuild, seen({ ...row, lastSeenAlive: at + 15_000 }, at + 16_000))).toBe('succeeded');
    expect(afterFacts(unknown, seen({}, t + 12 * minutes))).toMatchObject({
      progress: { state: 'upgrading', ending: null, dueAt: t + 18 * minutes },
    });
  });
});

describe('a collector that is deferred again and again', () => {
  const upToMs = aPolicy().defer.upToMs;

  it('is polled after it has waited for as long as all times before, and half an hour at most', () => {
    const waits: number[] = [];
    let upgrade = aQueuedOne();
    let at = t;
    for (let time = 0; time < 8; time += 1) {
      upgrade = afterFacts(upgrade, seen({ alive: false }, at));
      const dueAt = dueAtOf(upgrade) ?? at;
      waits.push((dueAt - at) / minutes);
      at = dueAt;
      upgrade = afterFacts(upgrade, seen({ lastSeenAlive: at }, at), admitted(at));
    }
    expect(waits).toEqual([2.5, 2.5, 5, 10, 20, 30, 30, 30]);
  });

  /** Alive and on offer whenever it is polled, and refused whenever a create comes. */
  function* rounds(code: string) {
    let upgrade = pending;
    let at = t;
    for (let creates = 1; creates < 2_000; creates += 1) {
      const sent = { kind: 'createSent', at } as const;
      upgrade = afterFacts(upgrade, admitted(at), offered(at), sent, createRefused(code, at));
      yield { upgrade, at, creates };
      if (upgrade.progress.state !== 'deferred') return;
      at = upgrade.progress.dueAt;
      upgrade = afterFacts(upgrade, offered(at));
    }
  }

  it.each(['collector.not.alive', 'collector.in.upgrading'])(
    'is deferred for no longer in total than the policy allows, and polled less and less often: %s',
    (code) => {
      const last = lossless([...rounds(code)].at(-1));
      expect(last.upgrade).toMatchObject({
        progress: { state: 'withdrawn', weight: 0, reason: { forMs: upToMs } },
        tally: { attempts: 0 },
      });
      expect(last.at - t).toBeGreaterThanOrEqual(upToMs);
      expect(last.at - t).toBeLessThan(upToMs + hours);
      expect(last.creates).toBeLessThan(50);
    },
  );

  const back = t + 10 * hours;
  const waited = afterFacts(starting, createRefused('collector.not.alive'), offered(back));

  it('does not count the time during which it waited for its turn', () => {
    const weeks = t + 14 * 24 * hours;
    const dead = (at: number) => seen({ alive: false }, at);
    const again = afterFacts(waited, admitted(weeks), dead(weeks));
    expect(again).toMatchObject({ progress: { state: 'deferred' } });
    expect(stateAfter(again, dead(weeks + hours))).toBe('deferred');
    expect(stateAfter(again, dead(weeks + 2 * hours + 1_000))).toBe('withdrawn');
  });

  it('gets the full time again once it was upgrading, or was brought back', () => {
    const at = back;
    expect(waited).toHaveProperty('tally.deferredMs');
    const sent = { kind: 'createSent', at } as const;
    const created = { kind: 'created', at, taskId: '7' } as const;
    const gone = { kind: 'withdrawn', at, reason } as const;
    const rejoined = { kind: 'rejoined', at, reason } as const;
    for (const renewed of [
      afterFacts(waited, admitted(at), sent, created),
      afterFacts(waited, gone, rejoined),
    ])
      expect(renewed).not.toHaveProperty('tally.deferredMs');
  });
});

describe('a turn', () => {
  it('keeps its number of config changes and its share of the pace until its create is answered', () => {
    const figures = { turnChanges: 3, turnPaceMs: 60_000 };
    const sent = { kind: 'createSent', at: t } as const;
    const inDoubt = afterFacts(aQueuedOne({}, figures), sent);
    expect(inDoubt.tally).toMatchObject(figures);
    expect(afterFacts(inDoubt, { kind: 'createNotSent', at: t }).tally.turnChanges).toBe(3);
    const created = { kind: 'created', at: t, taskId: '7' } as const;
    for (const figure of Object.keys(figures))
      expect(afterFacts(inDoubt, created)).not.toHaveProperty(`tally.${figure}`);
  });
});

describe('the next step', () => {
  it('polls before the first create when the plan was read more than a minute ago (P1)', () => {
    expect(nextStep(queued, t + freshForMs)).toEqual({ do: 'start' });
    expect(nextStep(queued, t + freshForMs + 1)).toMatchObject({ why: 'recheck' });
  });

  it('spaces polls by the age of the task, and never misses its deadline', () => {
    let upgrade = running;
    const dues: number[] = [];
    while (dues.length < 60 && upgrade.progress.state === 'upgrading' && upgrade.progress.ending === null) {
      dues.push(upgrade.progress.dueAt);
      upgrade = afterFacts(upgrade, taskSeen(6, '', upgrade.progress.dueAt));
    }
    expect(dues.at(-1)).toBe(t + aPolicy().upgrade.deadlineMs);
    expect(dues.length).toBeLessThan(25);
    expect(new Set(dues).size).toBe(dues.length);
    expect(dues.toSorted((a, b) => a - b)).toEqual(dues);
  });
});

describe('a collector whose record may be older than a lost create (P1)', () => {
  const rejoinedAt = t + 10_000;
  const now = rejoinedAt + 1_000;

  it('waits longer than a heartbeat after an upgrade, because it shows its old build until it restarts', () => {
    const later = now + 5 * minutes;
    const unlisted = seen({ upgradable: false, lastSeenAlive: now }, now);
    expect(afterFacts(queued, unlisted, offered(later))).toMatchObject({
      progress: { state: 'retrying', dueAt: later + 30_000 },
    });
  });

  it('is not polled while that create may still arrive: it would be shown without an upgrade', () => {
    expect(nextStep(aQueuedOne({ freshAt: t }), t, rejoinedAt)).toEqual({ do: 'wait', until: rejoinedAt });
    expect(nextStep(aQueuedOne({ freshAt: t }), rejoinedAt, rejoinedAt)).toMatchObject({
      askUpgradable: true,
    });
  });

  it('that goes back to an older build does not wait when the list lacks it', () => {
    const back = aQueuedOne({}, { fromBuild: targetBuild, toBuild: oldBuild });
    expect(nextStep(back, now, rejoinedAt)).toMatchObject({ why: 'recheck', askUpgradable: true });
    const shown = { build: targetBuild, lastSeenAlive: now };
    const unlisted = afterFacts(back, seen({ ...shown, upgradable: false }, now));
    expect(nextStep(unlisted, now, rejoinedAt)).toEqual({ do: 'start' });
    const listed = afterFacts(back, seen({ ...shown, upgradable: true, offeredAt: now + 1 }, now));
    expect(nextStep(listed, now, rejoinedAt)).toEqual({ do: 'wait', until: now + 18_000 });
  });
});

describe('a collector that is silent before its create (P1)', () => {
  const stale = aQueuedOne({ freshAt: 0 });
  const isFresh = (...facts: readonly UpgradeFact[]) => {
    const { progress } = afterFacts(stale, ...facts);
    return progress.state === 'queued' && progress.freshAt === t;
  };

  it('continues without a service time only after several newer heartbeats', () => {
    const timeless = (beat: number) => seen({ lastSeenAlive: t + beat, serviceAt: null });
    expect(isFresh(timeless(0), timeless(0), timeless(1), timeless(2))).toBe(false);
    expect(isFresh(timeless(0), timeless(1), timeless(2), timeless(3))).toBe(true);
    // A service that shows no heartbeats either has nothing to wait for.
    expect(isFresh(seen({ lastSeenAlive: null, serviceAt: null }))).toBe(true);
  });

  it('does not continue without newer heartbeats or on failed polls, and starts over after one in time', () => {
    const failure = { kind: 'unavailable', sent: true, detail: '' } as const;
    const failed: UpgradeFact = { kind: 'pollFailed', at: t, of: 'collector', failure };
    const late = (beat: number) => seen({ lastSeenAlive: t + beat, serviceAt: t + beat + 30_000 });
    const same = afterFacts(stale, ...Array.from({ length: 10 }, () => late(0)));
    expect(same).toMatchObject({ progress: { freshAt: 0, late: { polls: 1 } } });
    const thrice = [failed, late(0), failed, late(1), late(2), failed];
    expect(afterFacts(stale, ...thrice)).toMatchObject({ progress: { freshAt: 0, late: { polls: 3 } } });
    expect(isFresh(...thrice, late(3))).toBe(true);
    expect(afterFacts(stale, ...thrice, seen())).not.toHaveProperty('progress.late');
  });

  it('is deferred after several missed heartbeats, and returns after a new one', () => {
    const deferred = afterFacts(stale, seen({}, t + minutes));
    expect(deferred).toMatchObject({ progress: { state: 'deferred', condition: 'notAlive' } });
    const heard = (lastSeenAlive: number) => stateAfter(deferred, seen({ lastSeenAlive }, t + 5 * minutes));
    expect(heard(t + minutes)).toBe('deferred');
    expect(heard(t + 5 * minutes)).toBe('retrying');
  });
});

describe('a window that closes (P7)', () => {
  const startBy = t + 5 * minutes;
  const inTime = afterFacts(pending, admitted(t, startBy));

  it('allows a create at its last instant, and frees the slot after it', () => {
    const stale = afterFacts(inTime, seen({ lastSeenAlive: startBy }, startBy));
    expect(nextStep(stale, startBy)).toEqual({ do: 'start' });
    expect(nextStep(stale, startBy + 1)).toEqual({ do: 'giveBack', reason: { kind: 'windowCloses' } });
  });

  it('returns a turn to its place in the plan, or to the retries', () => {
    const putBack: UpgradeFact = { kind: 'putBack', at: startBy + 1, reason };
    expect(afterFacts(inTime, putBack)).toMatchObject({
      progress: { state: 'pending', reason },
      tally: { attempts: 0 },
    });
    expect(afterFacts(aQueuedOne({}, { attempts: 1 }), putBack)).toMatchObject({
      progress: { state: 'retrying', dueAt: startBy + 1 },
    });
  });
});

describe('an upgrade that is put back again and again', () => {
  const putBackAt = (at: number): UpgradeFact => ({ kind: 'putBack', at, reason });
  const turns = (count: number, from = pending) =>
    Array.from({ length: count }).reduce<Upgrade>(
      (upgrade) => afterFacts(upgrade, admitted(t), putBackAt(t)),
      from,
    );

  it('waits from the third time on, twice as long each time, and a quarter of an hour at most', () => {
    expect(turns(2).progress).toEqual({ state: 'pending', reason });
    const waits = [3, 4, 5, 6, 7, 20].map((count) => turns(count).progress);
    const minutesOf = (count: number) => ({ state: 'retrying', dueAt: t + count * minutes, reason });
    expect(waits).toEqual([1, 2, 4, 8, 15, 15].map(minutesOf));
    const tried = aRetryingOne(t, 'again', { attempts: 1 });
    expect([1, 2, 3].map((count) => dueAtOf(turns(count, tried)))).toEqual([t, t, t + minutes]);
  });

  it('counts anew once a create has left', () => {
    const left = afterFacts(
      turns(2),
      admitted(t),
      { kind: 'createSent', at: t },
      { kind: 'createNotSent', at: t },
    );
    expect(afterFacts(left, putBackAt(t)).progress).toEqual({ state: 'pending', reason });
  });
});

describe('an upgrade that has ended', () => {
  const at = t + 30 * minutes;

  it.each([
    [true, 3],
    [false, 1],
  ])(
    'is unconfirmed when its collector goes bad while its wave soaks; lost %s, it weighs %i',
    (lost, weight) => {
      expect(afterFacts(anEndedOne('succeeded'), { kind: 'regressed', at, reason, lost })).toMatchObject({
        progress: {
          ...{ state: 'unconfirmed', endedAt: at, reason },
          ...{ weight, lost, failureClass: 'unconfirmed' },
        },
      });
    },
  );

  it('is due at once when an operator wants it retried, counts as no failure, and is polled first (P1)', () => {
    const spent = anEndedOne('failed', { failureClass: 'retry' }, { attempts: 3, failedPolls: 4 });
    const retrying = afterFacts(spent, { kind: 'retryAsked', at, reason });
    expect(retrying).toMatchObject({
      progress: { state: 'retrying', dueAt: at, reason },
      tally: { failedPolls: 0 },
    });
    expect(retrying).not.toHaveProperty('progress.weight');
    expect(nextStep(afterFacts(retrying, admitted(at)), at)).toMatchObject({ why: 'recheck' });
  });

  it('waits at its old place when it was withdrawn and is eligible again, and is polled first (P1)', () => {
    const withdrawn = anEndedOne('withdrawn', {}, { order: 7 });
    const rejoined = afterFacts(withdrawn, { kind: 'rejoined', at, reason });
    expect(rejoined).toMatchObject({
      progress: { state: 'pending', reason },
      identity: { order: 7, eligibleAt: 0 },
    });
    expect(nextStep(afterFacts(rejoined, admitted(at)), at)).toMatchObject({ why: 'recheck' });
  });
});

describe('facts in states to which they do not apply', () => {
  const upgrades: readonly Upgrade[] = [
    ...[pending, queued, starting, running, afterFacts(running, taskSeen(2)), aRetryingOne(), aDeferredOne()],
    ...endStates.map((state) => anEndedOne(state)),
  ];
  const at = t + minutes;
  const rows: ReadonlyArray<readonly [UpgradeFact, readonly UpgradeState[]]> = [
    [admitted(at), ['pending', 'retrying']],
    [{ kind: 'putBack', at, reason }, ['queued']],
    [{ kind: 'createSent', at }, ['queued']],
    [{ kind: 'createNotSent', at }, ['starting']],
    [{ kind: 'withdrawn', at, reason }, ['pending', 'queued', 'retrying', 'deferred']],
    [{ kind: 'regressed', at, reason, lost: true }, ['succeeded']],
    [{ kind: 'retryAsked', at, reason }, ['failed', 'timedOut', 'unconfirmed']],
    [{ kind: 'rejoined', at, reason }, ['withdrawn']],
    [{ kind: 'rolledBack', at, reason }, ['succeeded', 'failed', 'timedOut', 'unconfirmed']],
  ];

  it.each(rows)('%o changes only upgrades in its states, each once', (fact, states) => {
    for (const upgrade of upgrades) {
      const after = afterFacts(upgrade, fact);
      expect(after !== upgrade, upgrade.progress.state).toBe(states.includes(upgrade.progress.state));
      if (after === upgrade) continue;
      expect(after.rev).toBe(upgrade.rev + 1);
      expect(afterFacts(after, fact)).toBe(after);
      const { eligibleAt: _, ...place } = upgrade.identity;
      expect(after).toMatchObject({ identity: place });
    }
  });
});
