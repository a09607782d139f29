import type { UpgradeChange } from '../../../src/orchestrator/ports/rollout-store.ts';
import type { UpgradeState } from '../../../src/rollout/model/upgrade.ts';
import type { SeenRollouts } from './seen-rollouts.ts';
import type { Verdicts } from './verdicts.ts';

/** A call to the store, a request to the service, or an event for the log. */
export type EffortKind = 'calls' | 'requests' | 'events';

/**
 * Counts what upgrades go through, and what is done for them. A loop that goes round without getting anywhere changes
 * states that nothing from outside has changed, or calls more often than open upgrades need.
 */
export interface ProgressJudge {
  changed(change: UpgradeChange): void;
  spent(kind: EffortKind): void;
  /** A fact from outside: a create of this collector left; without one, something happened to all. */
  fact(collectorId?: number): void;
  /** The most that was counted, as a share of its limit. */
  readonly most: ReadonlyMap<string, number>;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

// The longest of 2,000 nights' hours had 20 changes and 6 times put back. Time alone brings two free turns, and those after
// waits of 1, 2, 4, 8 and 15 minutes.
const changesMax = { base: 30, byFact: 6 };
const putBacksMax = { base: 10, byFact: 2 };

interface EffortLimit {
  readonly kind: EffortKind;
  readonly windowMs: number;
  /** For the leader's own looks, and what a verb or a scan asks. */
  readonly base: number;
  readonly byOpenUpgrade: number;
  /** For each further rollout that is open: it is looked at each second, too. */
  readonly byFurtherRollout?: number;
  /** For the lists of the fleet that are read within it, by their pages. */
  readonly byPage?: number;
}

// A list whose rows have no order is read up to three times.
const readingsOfList = 3;

const effortLimits: readonly EffortLimit[] = [
  // The leader and the notices look each second, with about four calls for each rollout.
  { kind: 'calls', windowMs: minuteMs, base: 600, byOpenUpgrade: 40, byFurtherRollout: 240 },
  { kind: 'calls', windowMs: hourMs, base: 30_000, byOpenUpgrade: 1_600 },
  // With six scans, each of two lists: lost data brings five more.
  { kind: 'requests', windowMs: minuteMs, base: 280, byOpenUpgrade: 10, byPage: 6 * 2 * readingsOfList },
  // A 404 counts only if the inventory agrees, so it is read up to once a minute.
  { kind: 'requests', windowMs: hourMs, base: 1_600, byOpenUpgrade: 150, byPage: 60 * readingsOfList },
  { kind: 'events', windowMs: minuteMs, base: 80, byOpenUpgrade: 8 },
  { kind: 'events', windowMs: hourMs, base: 500, byOpenUpgrade: 50 },
];

const countEvery = 10;

export function makeProgressJudge({
  now,
  verdicts,
  seen,
  pages,
}: {
  readonly now: () => number;
  readonly verdicts: Verdicts;
  readonly seen: Pick<SeenRollouts, 'all'>;
  /** How many pages the lists of the fleet have. */
  readonly pages: () => number;
}): ProgressJudge {
  const changesOf = new Map<string, readonly number[]>();
  const putBacksOf = new Map<string, readonly number[]>();
  /** By collector; 0: those of all. */
  const factsOf = new Map<number, readonly number[]>();
  const most = new Map<string, number>();
  const withinHour = (instants: readonly number[] = []) => instants.filter((at) => now() - at < hourMs);
  const add = <Key>(to: Map<Key, readonly number[]>, key: Key): number => {
    const kept = [...withinHour(to.get(key)), now()];
    to.set(key, kept);
    return kept.length;
  };
  const judge = (
    what: string,
    { count, max, words }: { count: number; max: number; words: () => string },
  ) => {
    most.set(what, Math.max(most.get(what) ?? 0, count / max));
    verdicts.check('progress', count <= max, count <= max ? '' : words());
  };
  const windows = effortLimits.map((limit) => ({ limit, began: now(), count: 0, open: 0, rollouts: 0 }));
  const countOpen = () => {
    let [open, rollouts] = [0, 0];
    for (const { rollout, upgrades } of seen.all.values()) {
      if (rollout.endedAt !== null) continue;
      open += upgrades.size;
      rollouts += 1;
    }
    return { open, rollouts };
  };
  return {
    most,
    fact: (collectorId = 0) => void add(factsOf, collectorId),
    changed: ({ before, after }) => {
      if (before.progress.state === after.progress.state) return;
      const { rolloutId, collectorId } = after.identity;
      const key = `${rolloutId}/${collectorId}`;
      const facts = [collectorId, 0].flatMap((id) => withinHour(factsOf.get(id))).length;
      const inAnHour = (count: number) => `${count} times in an hour, with ${facts} facts from outside`;
      const changes = add(changesOf, key);
      judge('changes', {
        count: changes,
        max: changesMax.base + changesMax.byFact * facts,
        words: () => `${key} changed its state ${inAnHour(changes)}`,
      });
      if (!isPutBack(before.progress.state, after.progress.state)) return;
      const putBacks = add(putBacksOf, key);
      judge('put back', {
        count: putBacks,
        max: putBacksMax.base + putBacksMax.byFact * facts,
        words: () => `${key} was put back ${inAnHour(putBacks)}`,
      });
    },
    spent: (kind) => {
      for (const window of windows) {
        const { limit } = window;
        if (limit.kind !== kind) continue;
        if (now() - window.began >= limit.windowMs) {
          window.began = now();
          window.count = 0;
          window.open = 0;
          window.rollouts = 0;
        }
        window.count += 1;
        // Those that end within it count, and those of a rollout that is lost.
        if (window.count % countEvery === 1) {
          const opened = countOpen();
          window.open = Math.max(window.open, opened.open);
          window.rollouts = Math.max(window.rollouts, opened.rollouts);
        }
        // Most windows stay below what they may have without any upgrade.
        if (window.count <= limit.base / 4) continue;
        const { count, open, rollouts } = window;
        const further = (limit.byFurtherRollout ?? 0) * Math.max(0, rollouts - 1);
        const minutes = limit.windowMs / minuteMs;
        judge(`${kind} in ${minutes} min`, {
          count,
          max: limit.base + limit.byOpenUpgrade * open + (limit.byPage ?? 0) * pages() + further,
          words: () =>
            `${count} ${kind} in ${minutes} minutes for ${open} open upgrades in ${rollouts} rollouts`,
        });
      }
    },
  };
}

function isPutBack(before: UpgradeState, after: UpgradeState): boolean {
  return (before === 'queued' || before === 'starting') && (after === 'pending' || after === 'retrying');
}
