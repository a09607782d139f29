import { describe, expect, it } from 'vitest';
import type { FleetService } from '../../../../src/orchestrator/ports/fleet-service.ts';
import type { StepOutcome } from '../../../../src/orchestrator/ports/wake-ups.ts';
import { runStep } from '../../../../src/orchestrator/step/run-step.ts';
import { makeObservations } from '../../../../src/orchestrator/watch/observations.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import { nextStep } from '../../../../src/rollout/upgrade/evolve.ts';
import {
  aFleet,
  aFleetService,
  anUpgrade,
  anUpgradingOne,
  aRollout,
  someGroups,
  startedAt as t,
} from '../../../support/builders.ts';
import { quietParts } from '../../../support/quiet-parts.ts';
import {
  makeMemoryFleetRegister,
  makeMemoryRolloutStore,
} from '../../../support/store/memory-rollout-store.ts';

const size = 120;
const day = 86_400_000;
const unknown = async () => ({ ok: false, failure: { kind: 'notFound', detail: '404' } }) as const;

type Listed = (id: number) => boolean;

/** Collector 1 of a fleet of 120 is unknown by its id; the inventory lists whom it lists. */
async function aPoll(first: Upgrade, listed: Listed | 'unread') {
  const store = makeMemoryRolloutStore();
  const rollout = aRollout({ inventory: { at: t, size, missing: 0 } });
  const rest = Array.from({ length: size - 1 }, (_, index) =>
    anUpgrade({ state: 'pending' }, { collectorId: index + 2, order: index + 2 }),
  );
  await store.freeze({ rollout, upgrades: [first, ...rest], groups: someGroups(), events: [] });
  const clock = { at: t, now: () => clock.at };
  let readings = 0;
  const fleet: FleetService = aFleetService({
    pollCollector: unknown,
    pollTask: unknown,
    ...(listed === 'unread'
      ? {}
      : {
          readInventory: async () => {
            readings += 1;
            const all = aFleet(size);
            return {
              ok: true,
              value: { ...all, readAt: clock.at, collectors: all.collectors.filter(({ id }) => listed(id)) },
            };
          },
        }),
  });
  const observations = makeObservations();
  const parts = { ...quietParts, store, register: makeMemoryFleetRegister(), clock, fleet, observations };
  const of = { rolloutId: rollout.id, collectorId: 1 };
  return {
    clock,
    readings: () => readings,
    poll: async () => {
      const outcome = await runStep(parts, of, new AbortController().signal);
      return { outcome, upgrade: await store.loadUpgrade(rollout.id, 1) };
    },
    rollout: () => store.loadRollout(rollout.id),
  };
}

function pollAgainAt(outcome: StepOutcome): number {
  if (outcome.job === 'end') throw new Error('it is not polled again');
  return outcome.at;
}

const adopted = anUpgradingOne({ taskId: null, dueAt: t });

describe('a collector that the service does not know by its id (P9, P14)', () => {
  it('is withdrawn when a plausible inventory, read after that, lacks it too', async () => {
    const { poll } = await aPoll(adopted, (id) => id !== 1);
    expect((await poll()).upgrade).toMatchObject({
      progress: { state: 'withdrawn', reason: { kind: 'gone' } },
    });
  });

  it.each<readonly [string, Listed | 'unread', string | undefined]>([
    ['lists it', () => true, undefined],
    ['is empty', () => false, 'empty'],
    ['lacks many more', (id) => id > 4, 'manyGone'],
    ['can not be read', 'unread', undefined],
  ])(
    'keeps its state and its slot, and is polled again, while the inventory %s',
    async (_what, listed, doubt) => {
      const { poll, rollout } = await aPoll(adopted, listed);
      const { upgrade, outcome } = await poll();
      expect(upgrade).toMatchObject({ progress: { state: 'upgrading', taskId: null } });
      expect(outcome).toMatchObject({
        job: 'comeBack',
        at: expect.toSatisfy((at: number) => at > t && at < t + 60_000),
      });
      expect((await rollout())?.doubt?.why.kind).toBe(doubt);
    },
  );

  it('costs no whole reading for each poll while there is a doubt: the leader reads the inventory again (P8)', async () => {
    const { poll, clock, readings } = await aPoll(adopted, () => false);
    for (let polls = 0; polls < 10; polls += 1) clock.at = pollAgainAt((await poll()).outcome);
    expect(readings()).toBe(1);
  });

  it('costs at most one whole reading a minute while the inventory lists it (P8)', async () => {
    const { poll, clock, readings } = await aPoll(adopted, () => true);
    for (let polls = 0; polls < 10; polls += 1) clock.at = pollAgainAt((await poll()).outcome);
    expect(readings()).toBeLessThanOrEqual(1 + Math.floor((clock.at - t) / 60_000));
  });

  it('keeps the watch of its task: with the task unknown too, it is the task that is polled next when both are back', async () => {
    const { poll, clock } = await aPoll(anUpgradingOne({ dueAt: t }), () => false);
    await poll();
    clock.at = t + 10_000;
    const { upgrade } = await poll();
    expect(upgrade).toMatchObject({
      progress: { state: 'upgrading', taskId: '77', ending: { kind: 'missing' } },
    });
    expect(upgrade && nextStep(upgrade, t + day)).toMatchObject({ do: 'pollCollector', why: 'judge' });
  });

  it('ends after a day beyond its time, so that a rollout can be ended', async () => {
    const { poll, clock } = await aPoll(adopted, () => false);
    for (let polls = 0; polls < 10_000; polls += 1) {
      const { outcome } = await poll();
      if (outcome.job === 'end') break;
      clock.at = outcome.at;
    }
    expect((await poll()).upgrade).toMatchObject({ progress: { state: 'timedOut' } });
    expect(clock.at).toBeGreaterThan(t + day);
  });
});
