import { describe, expect, it } from 'vitest';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import { rebuildUpgrade } from '../../../../src/rollout/decision/unreadable-upgrades.ts';
import { blockerWords } from '../../../../src/rollout/messages/blockers.ts';
import { explainUnreadable } from '../../../../src/rollout/status/explain.ts';
import { evolve } from '../../../../src/rollout/upgrade/evolve.ts';
import { aPolicy, aRollout, aView, aWave, someGroups, startedAt } from '../../../support/builders.ts';

const unreadable = { collectorIds: [7], forMs: 60_000 };
const tenMinutes = 600_000;
const mend = { do: 'mend', collectorIds: [7] };

describe('a rollout with a record that cannot be read', () => {
  it('says so, and when it goes on without it', () => {
    const view = aView({ unreadable });
    const { actions, blockers, wakeAt } = decide(view, startedAt);
    const dueAt = startedAt + tenMinutes - 60_000;
    expect(actions).not.toContainEqual(mend);
    const blocker = { kind: 'recordsUnreadable', collectorIds: [7], until: null } as const;
    expect(blockers.at(-1)).toEqual(blocker);
    expect(wakeAt).toBeLessThanOrEqual(dueAt);
    expect(explainUnreadable(7)).toEqual({ reason: blockerWords(blocker), until: null });
  });

  it('mends it after ten minutes, before anything else', () => {
    const view = aView({ unreadable: { ...unreadable, forMs: tenMinutes } });
    expect(decide(view, startedAt).actions[0]).toEqual(mend);
  });

  it('mends it at once when it is over, since nothing else lets it end', () => {
    const view = aView({ unreadable, rollout: aRollout({ state: 'aborted' }) });
    expect(decide(view, startedAt).actions[0]).toEqual(mend);
  });
});

describe('an upgrade in the place of one whose record cannot be read', () => {
  const policy = aPolicy();
  const rollout = aRollout({ policy, waves: [aWave({ state: 'open' })] });
  const remains = {
    collectorId: 7,
    wave: 0,
    order: 3,
    lane: 0,
    domains: [],
    text: '{"collectorName":"w\\u00e4b',
  };
  const context = { policy, answerWithinMs: 35_000, jitter: 0 };
  const seen = { build: '19.1-1', alive: true, lastSeenAlive: startedAt, serviceAt: startedAt };

  it('is withdrawn, and counts as no failure, when nothing of it can be running', () => {
    const upgrade = rebuildUpgrade({ ...remains, mayRun: false }, rollout, someGroups(), startedAt);
    expect(upgrade).toMatchObject({
      progress: { state: 'withdrawn', weight: 0 },
      identity: { collectorName: 'collector 7' },
    });
  });

  it('is watched with its slot when a task may be running, and gets no other one (P1, P2)', () => {
    const upgrade = rebuildUpgrade({ ...remains, mayRun: true }, rollout, someGroups(), startedAt);
    expect(upgrade).toMatchObject({ progress: { state: 'upgrading', taskId: null } });
    const look = { kind: 'collectorSeen', at: startedAt + 1_000, ...seen, upgradable: true } as const;
    // The heartbeat may be the last one before its restart, so the second look tells that it is over.
    const over = evolve(evolve(upgrade, look, context), look, context);
    expect(over.progress.state).toBe('failed');
  });

  it('succeeds when the collector shows the build and comes back (P10)', () => {
    const upgrade = rebuildUpgrade({ ...remains, mayRun: true }, rollout, someGroups(), startedAt);
    const shows = { ...seen, build: rollout.targetBuild, upgradable: false };
    const verifying = evolve(upgrade, { kind: 'collectorSeen', at: startedAt + 1, ...shows }, context);
    const back = { ...shows, lastSeenAlive: startedAt + 60_000 };
    const after = evolve(verifying, { kind: 'collectorSeen', at: startedAt + 60_000, ...back }, context);
    expect(after.progress.state).toBe('succeeded');
  });
});
