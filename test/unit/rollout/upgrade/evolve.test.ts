import { describe, expect, it } from 'vitest';
import { type EndState, endStates, type Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import { evolve, nextStep } from '../../../../src/rollout/upgrade/evolve.ts';
import type { CollectorObservation, UpgradeFact } from '../../../../src/rollout/upgrade/facts.ts';
import type { ServiceFailure } from '../../../../src/rollout/upgrade/failure-classes.ts';
import { freshForMs } from '../../../../src/rollout/upgrade/step.ts';
import {
  aContext,
  anUpgrade,
  anUpgradingOne,
  aPolicy,
  because,
  oldBuild,
  startedAt,
  targetBuild,
} from '../../../support/builders.ts';
import { lossless } from '../../../support/lossless.ts';

const minutes = 60_000;
const t = startedAt;

function seen(changes: Partial<CollectorObservation> = {}, at = t): UpgradeFact {
  const sighting = { build: oldBuild, alive: true, lastSeenAlive: t, serviceAt: at, upgradable: null };
  return { kind: 'collectorSeen', at, ...sighting, ...changes };
}

/** On its old build, heard from right now, and on offer: the service would start an upgrade of it. */
function offered(at: number): UpgradeFact {
  return seen({ upgradable: true, lastSeenAlive: at }, at);
}

function apply(upgrade: Upgrade, ...facts: readonly UpgradeFact[]): Upgrade {
  return facts.reduce((current, fact) => evolve(current, fact, aContext()), upgrade);
}

const queued = anUpgrade({ state: 'queued', dueAt: t, freshAt: t, startBy: null });
const starting = anUpgrade({ state: 'starting', sentAt: t, dueAt: t, startBy: null });
const createFailed = (failure: ServiceFailure): UpgradeFact => ({
  kind: 'createFailed',
  at: t + 1_000,
  failure,
});
const refused = (code: string): UpgradeFact => createFailed({ kind: 'refused', code, detail: 'no' });
const taskSeen = (status: number, message = '', at = t + 5 * minutes): UpgradeFact => ({
  kind: 'taskSeen',
  at,
  status,
  message,
  serviceAt: at,
});

describe('an upgrade on its good way', () => {
  it('goes pending, queued, starting, upgrading, verifying, succeeded', () => {
    const states: string[] = [];
    let upgrade = anUpgrade({ state: 'pending' });
    const facts: UpgradeFact[] = [
      { kind: 'admitted', at: t, startBy: null },
      { kind: 'createSent', at: t },
      { kind: 'created', at: t + 100, taskId: '77' },
      taskSeen(0),
      taskSeen(1),
      taskSeen(6),
      taskSeen(2),
      seen({ build: targetBuild, lastSeenAlive: t + 5 * minutes + 15_000 }, t + 6 * minutes),
    ];
    for (const fact of facts) {
      upgrade = apply(upgrade, fact);
      states.push(upgrade.progress.state);
    }
    expect(states).toEqual([
      'queued',
      'starting',
      'upgrading',
      'upgrading',
      'upgrading',
      'upgrading',
      'verifying',
      'succeeded',
    ]);
    expect(upgrade.tally.attempts).toBe(1);
  });
});

describe('success is seen, not told (P10)', () => {
  const verifying = apply(anUpgradingOne(), taskSeen(2));
  const at = t + 6 * minutes;

  it('needs the build', () => {
    expect(apply(verifying, seen({ build: oldBuild, lastSeenAlive: at }, at)).progress.state).toBe(
      'verifying',
    );
  });

  it('gives it its time anew when the first look comes after it, and the service tells no time', () => {
    const ended = { kind: 'taskSeen', at: t, status: 2, message: '', serviceAt: null } as const;
    const blind = apply(anUpgradingOne(), ended);
    const late = t + 11 * minutes;
    const shows = (lastSeenAlive: number | null, at: number, alive = true) =>
      seen({ build: targetBuild, serviceAt: null, lastSeenAlive, alive }, at);
    const once = apply(blind, shows(late - 2_000, late));
    expect(once).toMatchObject({
      progress: { state: 'verifying', verifyBy: late + 10 * minutes, dueAt: late + 30_000 },
    });
    expect(apply(once, shows(late + 28_000, late + 30_000)).progress.state).toBe('succeeded');
    expect(apply(once, shows(late - 2_000, late + 10 * minutes))).toMatchObject({ progress: { lost: true } });
    expect(apply(blind, shows(late - 2_000, late, false))).toMatchObject({ progress: { lost: true } });
    expect(apply(blind, shows(null, late))).toMatchObject({ progress: { lost: true } });
  });

  it('is unconfirmed, and weighs 1, when it came back on another build', () => {
    const late = t + 15 * minutes;
    const other = apply(verifying, seen({ build: '19.500-1', lastSeenAlive: late }, late));
    expect(other).toMatchObject({ progress: { state: 'unconfirmed', weight: 1 } });
  });
});

describe('a create that failed', () => {
  it('is repeated without spending an attempt when nothing was done (connect error, 429)', () => {
    for (const failure of [
      { kind: 'unavailable', sent: false, detail: '' },
      { kind: 'throttled', detail: '' },
    ] satisfies ServiceFailure[]) {
      const next = apply(starting, createFailed(failure));
      expect(next).toMatchObject({ progress: { state: 'queued' }, tally: { attempts: 0 } });
    }
  });

  it('stays in doubt, with its slot, when it may have been acted on', () => {
    const next = apply(starting, createFailed({ kind: 'unavailable', sent: true, detail: '' }));
    expect(next.progress.state).toBe('starting');
    expect(nextStep(next, t + minutes)).toEqual({
      do: 'pollCollector',
      why: 'settle',
      askUpgradable: true,
    });
  });

  it('defers a collector that is not alive, and one upgraded by someone else', () => {
    expect(apply(starting, refused('collector.not.alive'))).toMatchObject({
      progress: { state: 'deferred', condition: 'notAlive' },
    });
    expect(apply(starting, refused('collector.in.upgrading'))).toMatchObject({
      progress: { state: 'deferred', condition: 'inUpgrade' },
    });
  });

  it('puts the collector back when all share the cause', () => {
    const next = apply(starting, createFailed({ kind: 'misconfigured', detail: '403' }));
    expect(next).toMatchObject({ progress: { state: 'pending' }, tally: { attempts: 0 } });
  });
});

describe('a create in doubt (P1)', () => {
  it('is done when the collector shows the build', () => {
    expect(apply(starting, seen({ build: targetBuild }, t + minutes)).progress.state).toBe('verifying');
  });

  it('is adopted when the service would not start another', () => {
    expect(apply(starting, seen({ upgradable: false }, t + minutes))).toMatchObject({
      progress: { state: 'upgrading', taskId: null },
    });
  });

  it('is sent again only when the service would start one, and the first can no longer arrive', () => {
    expect(apply(starting, offered(t + 34_000)).progress.state).toBe('starting');
    expect(apply(starting, offered(t + 36_000)).progress.state).toBe('queued');
  });

  it('is sent again when the service always shows late heartbeats: by its deadline no restart is left', () => {
    const late = (at: number) => seen({ upgradable: true, serviceAt: at, lastSeenAlive: at - 30_000 }, at);
    expect(apply(starting, late(t + 35 * minutes - 1)).progress.state).toBe('starting');
    expect(apply(starting, late(t + 35 * minutes))).toMatchObject({
      progress: { state: 'queued', freshAt: 0 },
    });
  });

  it('gives up a collector whose creates never do anything', () => {
    let upgrade: Upgrade = starting;
    for (let n = 0; n < 10; n += 1) {
      upgrade = apply(upgrade, offered(t + (n + 1) * minutes));
      if (upgrade.progress.state === 'queued') upgrade = apply(upgrade, { kind: 'createSent', at: t });
    }
    expect(upgrade.progress.state).toBe('failed');
  });

  describe('that was adopted', () => {
    const adopted = apply(starting, seen({ upgradable: false }, t + minutes));
    const [soon, later] = [t + 5 * minutes, t + 6 * minutes];
    const offeredAgain = (at: number, heardAgoMs: number) =>
      seen({ upgradable: true, serviceAt: at, lastSeenAlive: at - heardAgoMs }, at);

    it('spends no attempt while the collector may be restarting from it', () => {
      const once = apply(adopted, offeredAgain(soon, 15_000));
      const restarting = apply(once, offeredAgain(soon + 30_000, 45_000));
      expect(restarting).toMatchObject({ progress: { state: 'upgrading' }, tally: { attempts: 0 } });
      expect(apply(restarting, seen({ build: targetBuild }, later))).toMatchObject({
        progress: { state: 'verifying' },
        tally: { attempts: 0 },
      });
    });

    it('is over by its deadline, however late the heartbeats always are', () => {
      const deadlineAt = t + 35 * minutes;
      expect(apply(adopted, offeredAgain(deadlineAt - 1, 30_000)).progress.state).toBe('upgrading');
      expect(apply(adopted, offeredAgain(deadlineAt, 30_000)).progress.state).toBe('retrying');
    });
  });
});

describe('a collector that another rollout upgrades', () => {
  it('is deferred before its create, and not once that has left (P1)', () => {
    const claimed: UpgradeFact = {
      kind: 'claimed',
      at: t,
      reason: because('the collector is being upgraded by other-1'),
    };
    expect(apply(queued, claimed)).toMatchObject({
      progress: {
        state: 'deferred',
        condition: 'inUpgrade',
        reason: because('the collector is being upgraded by other-1'),
      },
    });
    expect(apply(starting, claimed)).toBe(starting);
  });
});

describe('a task that failed', () => {
  const failed = (message: string, upgrade: Upgrade = anUpgradingOne()) =>
    apply(upgrade, taskSeen(3, message), seen({}, t + 5 * minutes));

  it('is retried after a growing wait when its cause passes', () => {
    expect(failed('download failed')).toMatchObject({
      progress: { state: 'retrying', dueAt: t + 7 * minutes },
    });
    const second = failed('download failed', anUpgradingOne({}, { attempts: 2 }));
    expect(second).toMatchObject({ progress: { state: 'retrying', dueAt: t + 11 * minutes } });
  });

  it('waits long when its cause passes slowly', () => {
    expect(failed('disk is out of space')).toMatchObject({
      progress: { state: 'retrying', dueAt: t + 65 * minutes },
    });
  });

  it('spreads retries by the jitter', () => {
    const fact = seen({}, t + 5 * minutes);
    const context = aContext({ jitter: 1 });
    const retry = evolve(apply(anUpgradingOne(), taskSeen(3, 'download failed')), fact, context);
    expect(retry).toMatchObject({ progress: { dueAt: t + 5 * minutes + 144_000 } });
  });

  it('fails at once when its cause is permanent, and after the last attempt', () => {
    expect(failed('permission denied').progress.state).toBe('failed');
    expect(failed('download failed', anUpgradingOne({}, { attempts: 3 }))).toMatchObject({
      progress: { state: 'failed', reason: { kind: 'attemptsSpent', attempts: 3, attemptsMax: 3 } },
    });
  });

  it('is retried once when nobody knows why', () => {
    const once = failed('');
    expect(once.progress.state).toBe('retrying');
    expect(
      failed('', anUpgradingOne({}, { unexplained: once.tally.unexplained, attempts: 2 })).progress.state,
    ).toBe('failed');
  });
});

describe('a task without an end', () => {
  it('is looked at once more at its deadline, and then timed out', () => {
    const atDeadline = apply(anUpgradingOne(), taskSeen(6, '', t + 35 * minutes));
    expect(atDeadline.progress.state).toBe('upgrading');
    expect(nextStep(atDeadline, t + 35 * minutes)).toMatchObject({ do: 'pollCollector', why: 'judge' });
    expect(apply(atDeadline, seen({}, t + 35 * minutes))).toMatchObject({
      progress: { state: 'timedOut', weight: 1 },
    });
    expect(apply(atDeadline, seen({ build: targetBuild }, t + 35 * minutes)).progress.state).toBe(
      'verifying',
    );
  });

  it('is looked for again when the service does not know it, until the deadline', () => {
    const failure: ServiceFailure = { kind: 'notFound', detail: '' };
    const missing = apply(anUpgradingOne(), { kind: 'pollFailed', at: t + minutes, of: 'task', failure });
    expect(apply(missing, seen({}, t + minutes))).toMatchObject({
      progress: { state: 'upgrading', ending: null },
    });
    expect(apply(missing, seen({}, t + 36 * minutes)).progress.state).toBe('timedOut');
    expect(apply(missing, seen({ build: targetBuild }, t + minutes)).progress.state).toBe('verifying');
  });
});

describe('a collector that is deferred again and again', () => {
  const upToMs = aPolicy().defer.upToMs;

  /** Alive and on offer whenever it is looked at, and refused whenever a create comes. */
  function* rounds(code: string) {
    let upgrade = anUpgrade({ state: 'pending' });
    let at = t;
    for (let creates = 1; creates < 2_000; creates += 1) {
      upgrade = apply(
        upgrade,
        { kind: 'admitted', at, startBy: null },
        offered(at),
        { kind: 'createSent', at },
        { kind: 'createFailed', at, failure: { kind: 'refused', code, detail: '' } },
      );
      yield { upgrade, at, creates };
      if (upgrade.progress.state !== 'deferred') return;
      at = upgrade.progress.dueAt;
      upgrade = apply(upgrade, offered(at));
    }
  }

  it.each(['collector.not.alive', 'collector.in.upgrading'])(
    'is waited for as long in all as the policy says, and asked less and less often: %s',
    (code) => {
      const last = lossless([...rounds(code)].at(-1));
      expect(last.upgrade).toMatchObject({
        progress: { state: 'withdrawn', weight: 0 },
        tally: { attempts: 0 },
      });
      expect(last.upgrade).toHaveProperty('progress.reason.forMs', upToMs);
      expect(last.at - t).toBeGreaterThanOrEqual(upToMs);
      expect(last.at - t).toBeLessThan(upToMs + 60 * minutes);
      expect(last.creates).toBeLessThan(50);
    },
  );

  it('does not count the time in which it only waited for its turn', () => {
    const waited = apply(starting, refused('collector.not.alive'), offered(t + 10 * 60 * minutes));
    const weeks = t + 14 * 24 * 60 * minutes;
    const again = apply(
      waited,
      { kind: 'admitted', at: weeks, startBy: null },
      seen({ alive: false }, weeks),
    );
    expect(again).toMatchObject({ progress: { state: 'deferred' } });
    expect(apply(again, seen({ alive: false }, weeks + 60 * minutes)).progress.state).toBe('deferred');
    expect(apply(again, seen({ alive: false }, weeks + 2 * 60 * minutes + 1_000)).progress.state).toBe(
      'withdrawn',
    );
  });

  it('is given all the time again once it was upgrading, or was brought back', () => {
    const at = t + 10 * 60 * minutes;
    const waited = apply(starting, refused('collector.not.alive'), offered(at));
    expect(waited).toHaveProperty('tally.deferredMs');
    const upgrading = apply(
      waited,
      { kind: 'admitted', at, startBy: null },
      { kind: 'createSent', at },
      { kind: 'created', at, taskId: '7' },
    );
    expect(upgrading).not.toHaveProperty('tally.deferredMs');
    const gone = apply(waited, { kind: 'withdrawn', at, reason: because('gone') });
    expect(apply(gone, { kind: 'rejoined', at, reason: because('is back') })).not.toHaveProperty(
      'tally.deferredMs',
    );
  });
});

describe('nextStep', () => {
  it('looks before the first create when the plan was read more than a minute ago (P1)', () => {
    expect(nextStep(queued, t + freshForMs)).toEqual({ do: 'start' });
    expect(nextStep(queued, t + freshForMs + 1)).toMatchObject({ why: 'recheck' });
  });

  it('leaves what waits for the reconciler alone', () => {
    expect(nextStep(anUpgrade({ state: 'pending' }), t)).toEqual({ do: 'rest' });
    expect(nextStep(anUpgrade({ state: 'retrying', dueAt: t, reason: because('') }), t + 1)).toEqual({
      do: 'rest',
    });
  });

  it('spaces looks by the age of the task, and never failedPolls its deadline', () => {
    const policy = aPolicy();
    let upgrade = anUpgradingOne();
    const dues: number[] = [];
    for (
      let look = 0;
      look < 60 && upgrade.progress.state === 'upgrading' && upgrade.progress.ending === null;
      look += 1
    ) {
      dues.push(upgrade.progress.dueAt);
      upgrade = apply(upgrade, taskSeen(6, '', upgrade.progress.dueAt));
    }
    expect(dues.at(-1)).toBe(t + policy.upgrade.deadlineMs);
    expect(dues.length).toBeLessThan(25);
    expect(dues.every((due, index) => index === 0 || due > (dues[index - 1] ?? 0))).toBe(true);
  });
});

describe('a collector whose record may be one of before a lost create (P1)', () => {
  const rejoinedAt = t + 10_000;
  const now = rejoinedAt + 1_000;

  it('waits for longer than a heartbeat once an upgrade is over: it shows its old build until it restarts', () => {
    const deferred = apply(queued, seen({ upgradable: false, lastSeenAlive: now }, now));
    const later = now + 5 * minutes;
    expect(apply(deferred, offered(later))).toMatchObject({
      progress: { state: 'retrying', dueAt: later + 30_000 },
    });
  });

  it('that goes back to an older build may be left out of the list all the same, and is not held up by that', () => {
    const back = { ...queued, identity: { ...queued.identity, fromBuild: targetBuild, toBuild: oldBuild } };
    expect(nextStep(back, now, rejoinedAt)).toMatchObject({ why: 'recheck', askUpgradable: true });
    const seenOn = { build: targetBuild, lastSeenAlive: now };
    const unlisted = apply(back, seen({ ...seenOn, upgradable: false }, now));
    expect(nextStep(unlisted, now, rejoinedAt)).toEqual({ do: 'start' });
    const listed = apply(back, seen({ ...seenOn, upgradable: true, offeredAt: now + 1 }, now));
    expect(nextStep(listed, now, rejoinedAt)).toEqual({ do: 'wait', until: now + 18_000 });
  });
});

describe('a collector that is silent before its create (P1)', () => {
  const beatAgo = (ageMs: number) => seen({ lastSeenAlive: t + minutes - ageMs }, t + minutes);
  const stale = anUpgrade({ state: 'queued', dueAt: t, freshAt: 0, startBy: null });

  it('goes on without a time of the service only after several newer heartbeats', () => {
    const timeless = (beat: number) => seen({ lastSeenAlive: t + beat, serviceAt: null }, t);
    expect(apply(stale, timeless(0), timeless(0), timeless(1), timeless(2))).toMatchObject({
      progress: { freshAt: 0 },
    });
    expect(apply(stale, timeless(0), timeless(1), timeless(2), timeless(3))).toMatchObject({
      progress: { freshAt: t },
    });
    // A service that tells no heartbeats either has nothing to wait for.
    expect(apply(stale, seen({ lastSeenAlive: null, serviceAt: null }, t))).toMatchObject({
      progress: { freshAt: t },
    });
  });

  it('does not go on without newer heartbeats, nor on looks that failed, and begins anew after one in time', () => {
    const failure: ServiceFailure = { kind: 'unavailable', sent: true, detail: '' };
    const failed: UpgradeFact = { kind: 'pollFailed', at: t, of: 'collector', failure };
    const lateBeat = (beat: number) => seen({ lastSeenAlive: t + beat, serviceAt: t + beat + 30_000 }, t);
    const same = apply(stale, ...Array.from({ length: 10 }, () => lateBeat(0)));
    expect(same).toMatchObject({ progress: { freshAt: 0, late: { polls: 1 } } });
    const thrice = apply(stale, failed, lateBeat(0), failed, lateBeat(1), lateBeat(2), failed);
    expect(thrice).toMatchObject({ progress: { freshAt: 0, late: { polls: 3 } } });
    expect(apply(thrice, lateBeat(3))).toMatchObject({ progress: { freshAt: t } });
    expect(apply(thrice, seen({ lastSeenAlive: t }, t))).not.toHaveProperty('progress.late');
  });

  it('is deferred when it has missed several, and returns when it is heard again', () => {
    const deferred = apply(stale, beatAgo(60_000));
    expect(deferred).toMatchObject({ progress: { state: 'deferred', condition: 'notAlive' } });
    expect(apply(deferred, seen({ lastSeenAlive: t + minutes }, t + 5 * minutes)).progress.state).toBe(
      'deferred',
    );
    expect(apply(deferred, seen({ lastSeenAlive: t + 5 * minutes }, t + 5 * minutes)).progress.state).toBe(
      'retrying',
    );
  });
});

describe('a window that closes (P7)', () => {
  const startBy = t + 5 * minutes;
  const inTime = apply(anUpgrade({ state: 'pending' }), { kind: 'admitted', at: t, startBy });

  it('lets a create leave at its last instant, and gives the slot back after it', () => {
    const stale = apply(inTime, seen({ lastSeenAlive: startBy }, startBy));
    expect(nextStep(stale, startBy)).toEqual({ do: 'start' });
    expect(nextStep(stale, startBy + 1)).toEqual({
      do: 'giveBack',
      reason: { kind: 'windowCloses' },
    });
  });

  it('puts one that is given back at its place in the plan, or among the retries', () => {
    const putBack: UpgradeFact = { kind: 'putBack', at: startBy + 1, reason: because('the window closes') };
    expect(apply(inTime, putBack)).toMatchObject({
      progress: { state: 'pending', reason: because('the window closes') },
      tally: { attempts: 0 },
    });
    expect(apply({ ...inTime, tally: { ...inTime.tally, attempts: 1 } }, putBack)).toMatchObject({
      progress: { state: 'retrying', dueAt: startBy + 1 },
    });
  });
});

describe('a collector that goes bad while its wave soaks', () => {
  const succeeded = anUpgrade({
    state: 'succeeded',
    endedAt: t,
    reason: because('ok'),
    weight: 0,
    lost: false,
  });
  const at = t + 30 * minutes;

  it('is unconfirmed; dead, it weighs as one that did not come back', () => {
    expect(apply(succeeded, { kind: 'regressed', at, reason: because('died'), lost: true })).toMatchObject({
      progress: {
        state: 'unconfirmed',
        endedAt: at,
        reason: because('died'),
        weight: 3,
        lost: true,
        failureClass: 'unconfirmed',
      },
    });
    expect(
      apply(succeeded, { kind: 'regressed', at, reason: because('left the build'), lost: false }),
    ).toMatchObject({
      progress: { state: 'unconfirmed', weight: 1, lost: false, failureClass: 'unconfirmed' },
    });
  });
});

describe('a failed one that an operator wants tried again', () => {
  const spent = anUpgrade(
    { state: 'failed', endedAt: t, reason: because('no'), weight: 1, lost: false, failureClass: 'retry' },
    { attempts: 3, failedPolls: 4 },
  );
  const asked: UpgradeFact = { kind: 'retryAsked', at: t + minutes, reason: because('by ann') };

  it('is due at once, counts as no failure, and is looked at before its create (P1)', () => {
    const retrying = apply(spent, asked);
    expect(retrying).toMatchObject({
      progress: { state: 'retrying', dueAt: t + minutes, reason: because('by ann') },
      tally: { failedPolls: 0 },
    });
    expect(retrying).not.toHaveProperty('progress.weight');
    const queued = apply(retrying, { kind: 'admitted', at: t + minutes, startBy: null });
    expect(nextStep(queued, t + minutes)).toMatchObject({ why: 'recheck' });
  });
});

describe('a withdrawn one that is eligible again', () => {
  it('waits at its old place, and is looked at before its create (P1)', () => {
    const withdrawn = anUpgrade(
      { state: 'withdrawn', endedAt: t, reason: because('gone'), weight: 0, lost: false },
      { order: 7 },
    );
    const pending = apply(withdrawn, { kind: 'rejoined', at: t + 1, reason: because('is back') });
    expect(pending).toMatchObject({
      progress: { state: 'pending', reason: because('is back') },
      identity: { order: 7, eligibleAt: 0 },
    });
    const queued = apply(pending, { kind: 'admitted', at: t + 2, startBy: null });
    expect(nextStep(queued, t + 2)).toMatchObject({ why: 'recheck' });
  });
});

describe('facts and states that do not belong together', () => {
  const ended = (state: EndState) =>
    anUpgrade({ state, endedAt: t, reason: because('why'), weight: 0, lost: false });
  const upgrades: readonly Upgrade[] = [
    anUpgrade({ state: 'pending' }),
    queued,
    starting,
    anUpgradingOne(),
    apply(anUpgradingOne(), taskSeen(2)),
    anUpgrade({ state: 'retrying', dueAt: t, reason: because('why') }),
    anUpgrade({ state: 'deferred', condition: 'notAlive', since: t, dueAt: t, reason: because('why') }),
    ...endStates.map(ended),
  ];
  const at = t + minutes;
  const rows: ReadonlyArray<readonly [UpgradeFact, readonly string[]]> = [
    [{ kind: 'admitted', at, startBy: null }, ['pending', 'retrying']],
    [{ kind: 'putBack', at, reason: because('r') }, ['queued']],
    [{ kind: 'createSent', at }, ['queued']],
    [{ kind: 'createNotSent', at }, ['starting']],
    [{ kind: 'withdrawn', at, reason: because('r') }, ['pending', 'queued', 'retrying', 'deferred']],
    [{ kind: 'regressed', at, reason: because('r'), lost: true }, ['succeeded']],
    [{ kind: 'retryAsked', at, reason: because('r') }, ['failed', 'timedOut', 'unconfirmed']],
    [{ kind: 'rejoined', at, reason: because('r') }, ['withdrawn']],
    [{ kind: 'rolledBack', at, reason: because('r') }, ['succeeded', 'failed', 'timedOut', 'unconfirmed']],
  ];

  it.each(rows)('%o changes only those it is about, each once', (fact, states) => {
    for (const upgrade of upgrades) {
      const after = evolve(upgrade, fact, aContext());
      expect(after !== upgrade, upgrade.progress.state).toBe(states.includes(upgrade.progress.state));
      if (after === upgrade) continue;
      expect(after.rev).toBe(upgrade.rev + 1);
      expect(evolve(after, fact, aContext())).toBe(after);
      const { collectorId, wave, order, fromBuild, toBuild, lane, stratum, domains } = upgrade.identity;
      expect(after).toMatchObject({
        identity: { collectorId, wave, order, fromBuild, toBuild, lane, stratum, domains },
      });
    }
  });
});
