import type { FleetService } from '../../src/orchestrator/ports/fleet-service.ts';
import type { StepQueue } from '../../src/orchestrator/ports/leader.ts';
import type { RolloutStore } from '../../src/orchestrator/ports/rollout-store.ts';
import { holdsSlot, isIn } from '../../src/rollout/model/upgrade.ts';
import { targetBuild } from '../support/builders.ts';

/** The ports of an actor in which a bug may be put. */
export interface Ports {
  readonly store: RolloutStore;
  readonly fleet: FleetService;
  readonly queue: StepQueue;
  readonly trustedSince: () => number;
}

interface Plant {
  /** The scenario in which it is found. */
  readonly scenario: string;
  readonly promise: string;
  readonly change: (ports: Ports) => Partial<Ports>;
}

/** Bugs that are put in on purpose, to see that some order of moves shows each. */
export const plantedOrders = {
  /** Who finds the record changed stores the intent all the same. */
  intentNotExclusive: {
    scenario: 'killed',
    promise: 'P1',
    change: ({ store }) => ({
      store: {
        ...store,
        saveIntent: async (change, rev) => {
          const saved = await store.saveIntent(change, rev);
          if (saved !== 'stale') return saved;
          const { rolloutId, collectorId } = change.after.identity;
          const { upgrades } = await store.loadUpgrades(rolloutId, [collectorId]);
          const [before] = upgrades;
          if (before === undefined) return saved;
          return store.saveIntent(
            { ...change, before, after: { ...change.after, rev: before.rev + 1 } },
            rev,
          );
        },
      },
    }),
  },
  /** A slot more is given than there is. */
  slotTooMany: {
    scenario: 'two leaders',
    promise: 'P2',
    change: ({ store }) => ({
      store: {
        ...store,
        loadView: async (id, at) => {
          const view = await store.loadView(id, at);
          return view && { ...view, slotsTaken: view.slotsTaken - 1 };
        },
        admit: (admission, fence) => store.admit({ ...admission, slots: admission.slots + 1 }, fence),
      },
    }),
  },
  /** A create leaves before its intent is stored. */
  createBeforeIntent: {
    scenario: 'killed',
    promise: 'P1',
    change: ({ fleet }) => ({
      fleet: {
        ...fleet,
        reserveCreate: async (task, signal) => {
          const reserved = await fleet.reserveCreate(task, signal);
          if (!reserved.ok) return reserved;
          const answer = await reserved.value.send();
          return { ok: true, value: { send: async () => answer, giveUp: () => undefined } };
        },
      },
    }),
  },
  /** An answer that did not come is taken for a create that was not done. */
  doubtNotSettled: {
    scenario: 'answer lost',
    promise: 'P1',
    change: ({ fleet }) => ({
      fleet: {
        ...fleet,
        pollCollector: async (poll, signal) => {
          const answer = await fleet.pollCollector(poll, signal);
          return answer.ok ? { ok: true, value: { ...answer.value, upgradable: true } } : answer;
        },
      },
    }),
  },
  /** A pause is acknowledged without a wait for creates that are about to leave. */
  pauseNotWaitedFor: {
    scenario: 'paused',
    promise: 'P4',
    change: ({ store }) => ({ store: { ...store, countFreshIntents: async () => 0 } }),
  },
  /** The intent is stored although the rollout is stopped. */
  brakeIgnored: {
    scenario: 'paused',
    promise: 'P4',
    change: ({ store }) => ({
      store: {
        ...store,
        saveIntent: async (change) => {
          const { rolloutId } = change.after.identity;
          const saved = await store.saveUpgrades(rolloutId, [{ ...change, brakeAbove: null }], {});
          return saved.length > 0 ? 'saved' : 'stale';
        },
      },
    }),
  },
  /** An abort withdraws upgrades whose create has left. */
  startedWithdrawn: {
    scenario: 'aborted',
    promise: 'P2',
    change: ({ store }) => ({
      store: {
        ...store,
        listUpgrades: async (id, page) => {
          const listed = await store.listUpgrades(id, page);
          if (page.state !== 'queued') return listed;
          const started = await store.listUpgrades(id, { ...page, state: 'starting' });
          return [
            ...listed,
            ...started.map((upgrade) => ({
              ...upgrade,
              progress: { state: 'queued', dueAt: 0, freshAt: 1, startBy: null } as const,
            })),
          ];
        },
        saveUpgrades: async (id, changes, guard) =>
          store.saveUpgrades(id, await Promise.all(changes.map(asItIs(store, id))), guard),
      },
    }),
  },
  /** Records are trusted although the store went back. */
  lossIgnored: {
    scenario: 'forgotten',
    promise: 'P1',
    change: () => ({ trustedSince: () => 0 }),
  },
  /** Rollouts of other policies are not asked for the collector. */
  claimsIgnored: {
    scenario: 'two policies',
    promise: 'P1',
    change: ({ store }) => ({ store: { ...store, findUpgradesOf: async () => [] } }),
  },
  /** A step whose job was lost is not delivered again. */
  lostJobStays: {
    scenario: 'killed leader',
    promise: 'progress',
    change: ({ queue }) => ({ queue: { ...queue, bringForward: async () => undefined } }),
  },
  /** The next wave opens as soon as one of a wave has ended. */
  gateNotWaitedFor: {
    scenario: 'two waves',
    promise: 'P3',
    change: ({ store }) => ({
      store: {
        ...store,
        loadView: async (id, at) => {
          const view = await store.loadView(id, at);
          if (view === undefined) return view;
          const waves = view.waves.map((wave) => ({
            ...wave,
            counts: {
              ...wave.counts,
              verifying: 0,
              succeeded: wave.counts.succeeded + wave.counts.verifying,
            },
          }));
          return { ...view, waves };
        },
      },
    }),
  },
  /** A target that a create is refused for is taken for one that is on offer. */
  withdrawalUnseen: {
    scenario: 'withdrawn build',
    promise: 'P6',
    change: ({ fleet }) => ({
      fleet: {
        ...fleet,
        listBuilds: async () => ({ ok: true, value: [{ version: targetBuild, latest: true }] }),
      },
    }),
  },
  /** The end of the task is believed, whatever the collector shows. */
  returnNotAwaited: {
    scenario: 'two waves',
    promise: 'P10',
    change: ({ fleet }) => ({
      fleet: {
        ...fleet,
        pollCollector: async (poll, signal) => {
          const answer = await fleet.pollCollector(poll, signal);
          if (!answer.ok || poll.upgradableTo !== null) return answer;
          const value = { ...answer.value, build: '19.536-4', lastSeenAlive: answer.value.serviceAt };
          return { ok: true, value };
        },
      },
    }),
  },
} as const satisfies Readonly<Record<string, Plant>>;

export type PlantedOrder = keyof typeof plantedOrders;
export const plantedOrderNames = Object.keys(plantedOrders) as readonly PlantedOrder[];

/** The change made from the record as it is: what the bug sees and what the store has differ. */
function asItIs(store: RolloutStore, id: string) {
  return async (change: Parameters<RolloutStore['saveUpgrades']>[1][number]) => {
    const { collectorId } = change.before.identity;
    const { upgrades } = await store.loadUpgrades(id, [collectorId]);
    const [record] = upgrades;
    const isWrong =
      isIn(change.after, 'withdrawn') && record !== undefined && holdsSlot(record.progress.state);
    return isWrong ? { ...change, before: record, after: { ...change.after, rev: record.rev + 1 } } : change;
  };
}
