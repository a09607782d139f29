import { sumOf } from '../../base/grouping.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { serviceLimits } from '../../contract/collector-management/limits.ts';
import type { Accounts } from '../../orchestrator/ports/accounts.ts';
import type { RolloutStore } from '../../orchestrator/ports/rollout-store.ts';
import { listWatched } from '../../orchestrator/watch/watched-upgrades.ts';
import type { FleetSnapshot } from '../../rollout/model/collector.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { returnedMin } from '../../rollout/readings/control-build.ts';
import {
  collectorsPerPage,
  planReadings,
  type Reading,
  type WatchedRollout,
} from '../../rollout/readings/reading-period.ts';
import { freshForMs } from '../../rollout/upgrade/step.ts';
import type { VirtualBudget } from '../world/virtual-budget.ts';

export type ListReadings = ReturnType<typeof makeListReadings>;

// The watch of a daemon rests this long at most, and knows of new upgrades by then.
const restShare = 1 / 50;

type Shown = keyof typeof shows;

/** What shows that a task has ended, and that its collector has returned. */
const shows = {
  end: ['control', 'upgradable', 'tasks'],
  return: ['control', 'inventory'],
} as const satisfies Readonly<Record<string, ReadonlyArray<Reading['of']>>>;

/**
 * When a daemon reads lists, by its own rules, and what that costs. No list is made: what a reading would show is computed
 * from the tasks. The services that are known have a control list (field-facts.md, The wire).
 */
export function makeListReadings({
  policy,
  policies,
  snapshot,
  beganAt,
  budget,
  passPauseMs,
  store,
  accounts,
}: {
  readonly policy: Policy;
  /** The names of all policies that are played. */
  readonly policies: readonly string[];
  readonly snapshot: FleetSnapshot;
  readonly beganAt: EpochMs;
  readonly budget: VirtualBudget;
  readonly passPauseMs: DurationMs;
  readonly store: Pick<RolloutStore, 'activeRolloutIds' | 'loadView' | 'listDue'>;
  readonly accounts: Pick<Accounts, 'statusOf'>;
}) {
  const pages = Math.max(1, Math.ceil(snapshot.collectors.length / collectorsPerPage));
  const planForMs = Math.max(passPauseMs, policy.upgrade.expectMs * restShare);
  const readAt = new Map<Reading['of'], EpochMs>();
  let readings: readonly Reading[] = [];
  let running = 0;
  let isControlKnown = false;
  let at = beganAt;
  let planAt = beganAt;

  const plan = async (): Promise<void> => {
    const { loads } = await listWatched({ store, accounts, policies: () => policies }, at);
    isControlKnown ||= (await countReturned(store, policies, at)) >= returnedMin;
    readings = planReadings(loads, {
      requestsPerSecond: budget.requestsPerSecond,
      // A build that no collector runs, as a service that offers many builds has one.
      controlBuild: isControlKnown ? 'control' : undefined,
    });
    running = countRunning(loads);
    planAt = at + planForMs;
  };
  const dueAt = ({ of: list, periodMs }: Reading): EpochMs => (readAt.get(list) ?? at - periodMs) + periodMs;
  const showing = (what: Shown): readonly Reading[] =>
    readings.filter(({ of: list }) => (shows[what] as readonly string[]).includes(list));
  return {
    /** Reads all lists that are due until this instant. Called at each step of an upgrade and each pass of the leader. */
    readUntil: async (now: EpochMs): Promise<void> => {
      while (at < now) {
        if (at >= planAt) await plan();
        if (readings.length === 0) {
          // Nothing is in flight, and nothing changes before this instant. The next watch begins with all lists.
          readAt.clear();
          at = planAt = now;
          return;
        }
        at = Math.min(now, planAt, Math.max(at, Math.min(...readings.map(dueAt))));
        for (const reading of readings) {
          if (dueAt(reading) > at) continue;
          if (!budget.isDown(at)) budget.spend(reading.of === 'tasks' ? running : pages, at);
          readAt.set(reading.of, at);
        }
      }
    },
    /** Whether a list shows what happened at this instant. */
    isShown: (what: Shown, happenedAt: EpochMs): boolean =>
      showing(what).some(({ of: list }) => (readAt.get(list) ?? Number.NEGATIVE_INFINITY) >= happenedAt),
    /** The next reading that shows it, after this instant; Infinity: none is planned. */
    nextAt: (what: Shown, now: EpochMs): EpochMs =>
      Math.max(now + 1, Math.ceil(Math.min(...showing(what).map(dueAt)))),
    /** When a list showed rows that replace polls before creates: in the last minute, with a heartbeat after the plan. */
    rowsAt: (now: EpochMs): EpochMs | undefined =>
      [...readAt]
        .filter(([of]) => of !== 'tasks')
        .map(([, each]) => each)
        .filter((each) => each > beganAt + serviceLimits.heartbeatMs && now - each < freshForMs)
        .sort((one, other) => other - one)[0],
  };
}

async function countReturned(
  store: Pick<RolloutStore, 'activeRolloutIds' | 'loadView'>,
  policies: readonly string[],
  now: EpochMs,
): Promise<number> {
  const ids = await store.activeRolloutIds(policies);
  const views = await Promise.all(
    ids.map((id) => store.loadView(id, { now, overdueBefore: 0, pageSize: 1 })),
  );
  return sumOf(
    views.flatMap((view) => view?.waves ?? []),
    ({ counts }) => counts.succeeded,
  );
}

function countRunning(loads: readonly WatchedRollout[]): number {
  return sumOf(
    loads.flatMap(({ running }) => [...running.values()]),
    ({ count }) => count,
  );
}
