import { describe, expect, it } from 'vitest';
import type { StepOutcome } from '../../../../src/orchestrator/ports/leader.ts';
import { runStep } from '../../../../src/orchestrator/step/run-step.ts';
import { makeObservations } from '../../../../src/orchestrator/watch/observations.ts';
import { nextStep } from '../../../../src/rollout/upgrade/evolve.ts';
import { aFleet, anUpgradingOne, aRollout, startedAt as t } from '../../../support/builders.ts';
import { aHouse, failing } from '../../../support/house.ts';
import { pendingOnes } from '../../../support/store/store-changes.ts';

const size = 120;
const day = 86_400_000;
const unknown = failing({ kind: 'notFound', detail: '404' });
const adopted = anUpgradingOne({ taskId: null, dueAt: t });

type Listed = (id: number) => boolean;

/** Collector 1 of a fleet of 120 is unknown by its id; the inventory lists whom it lists. */
async function aPoll(listed: Listed | 'unread', first = adopted) {
  const service = { readings: 0 };
  const { parts, clock, upgrade, now } = await aHouse({
    rollout: aRollout({ inventory: { baseline: { at: t, size, missing: 0 } } }),
    upgrades: [first, ...pendingOnes(size).slice(1)],
    fleet: {
      pollCollector: unknown,
      pollTask: unknown,
      ...(listed !== 'unread' && {
        readInventory: async () => {
          service.readings += 1;
          const all = aFleet(size);
          const collectors = all.collectors.filter(({ id }) => listed(id));
          return { ok: true, value: { ...all, readAt: clock.at, collectors } };
        },
      }),
    },
  });
  const own = { ...parts, observations: makeObservations() };
  const of = { rolloutId: aRollout().id, collectorId: 1 };
  const poll = () => runStep(own, of, new AbortController().signal);
  /** Polls at each due time, at most `times` times. */
  const pollOn = async (times: number): Promise<StepOutcome> => {
    const outcome = await poll();
    if (outcome.job === 'end' || times === 1) return outcome;
    clock.at = outcome.at;
    return pollOn(times - 1);
  };
  return { clock, service, poll, pollOn, upgrade, now };
}

describe('a collector that the service does not know by its id (P9, P14)', () => {
  it('is withdrawn when a plausible inventory, read after that, lacks it too', async () => {
    const { poll, upgrade } = await aPoll((id) => id !== 1);
    await poll();
    expect(await upgrade()).toMatchObject({ progress: { state: 'withdrawn', reason: { kind: 'gone' } } });
  });

  it.each<readonly [string, Listed | 'unread', string | undefined]>([
    ['lists it', () => true, undefined],
    ['is empty', () => false, 'empty'],
    ['lacks many more', (id) => id > 4, 'manyGone'],
    ['cannot be read', 'unread', undefined],
  ])(
    'keeps its state and its slot, and is polled again, when the inventory %s',
    async (_what, listed, implausible) => {
      const { poll, upgrade, now } = await aPoll(listed);
      const soon = expect.toSatisfy((at: number) => at > t && at < t + 60_000);
      expect(await poll()).toMatchObject({ job: 'comeBack', at: soon });
      expect(await upgrade()).toMatchObject({ progress: { state: 'upgrading', taskId: null } });
      expect((await now()).inventory.implausible?.why.kind).toBe(implausible);
    },
  );

  it('does not cost a whole reading of the inventory for each poll while the inventory is implausible (P8)', async () => {
    const { pollOn, service } = await aPoll(() => false);
    await pollOn(10);
    expect(service.readings).toBe(1);
  });

  it('costs at most one whole reading a minute while the inventory lists it (P8)', async () => {
    const { pollOn, clock, service } = await aPoll(() => true);
    await pollOn(10);
    expect(service.readings).toBeLessThanOrEqual(1 + Math.floor((clock.at - t) / 60_000));
  });

  it('keeps the id of its task when the task is unknown, too', async () => {
    const { poll, clock, upgrade } = await aPoll(() => false, anUpgradingOne({ dueAt: t }));
    await poll();
    clock.at = t + 10_000;
    await poll();
    const missing = await upgrade();
    expect(missing.progress).toMatchObject({ state: 'upgrading', taskId: '77', ending: { kind: 'missing' } });
    expect(nextStep(missing, t + day)).toMatchObject({ do: 'pollCollector', why: 'judge' });
  });

  it('ends a day after its deadline, because its rollout must be able to end', async () => {
    const { pollOn, clock, upgrade } = await aPoll(() => false);
    expect(await pollOn(3_000)).toEqual({ job: 'end' });
    expect(await upgrade()).toMatchObject({ progress: { state: 'timedOut' } });
    expect(clock.at).toBeGreaterThan(t + day);
  });
});
