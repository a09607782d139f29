import type { Candidate, LaneQueue, StoredView } from '../../rollout/model/rollout.ts';
import { dueAtOf, type Upgrade } from '../../rollout/model/upgrade.ts';

/** The sorted sets of one plan: what is pending by lane and wave, and what is due. */
export class MemoryQueues {
  /** By lane, then wave; each in plan order. */
  readonly #lanes: Array<Array<Upgrade[] | undefined> | undefined> = [];
  readonly #timed = new Map<number, Upgrade>();
  // Reused by views until the next change of their lane.
  #shown: { frontier: number; perLane: number; queues: Array<LaneQueue | undefined> } | undefined;

  place(upgrade: Upgrade): void {
    if (dueAtOf(upgrade) !== undefined) this.#timed.set(upgrade.identity.collectorId, upgrade);
    const { state } = upgrade.progress;
    // A retrying one is no member, but its lane is shown.
    if (state !== 'pending' && state !== 'retrying') return;
    const members = this.#pendingBeside(upgrade);
    if (state === 'retrying') return;
    // Plans are added in order, so this is nearly always the end.
    const at = members.findLastIndex(({ identity: { order } }) => order < upgrade.identity.order) + 1;
    members.splice(at, 0, upgrade);
  }

  remove({ identity, progress }: Upgrade): void {
    this.#timed.delete(identity.collectorId);
    if (progress.state !== 'pending') return;
    const members = this.#pendingBeside({ identity });
    const at = members.findIndex((member) => member.identity.collectorId === identity.collectorId);
    if (at >= 0) members.splice(at, 1);
  }

  /** Pending upgrades by wave, then lane, in plan order. */
  pending(): readonly Upgrade[] {
    const waves = this.#lanes.reduce((most, lane) => Math.max(most, lane?.length ?? 0), 0);
    return Array.from({ length: waves }, (_, wave) =>
      this.#lanes.flatMap((lane) => lane?.[wave] ?? []),
    ).flat();
  }

  candidates(at: {
    readonly now: number;
    readonly frontier: number;
    readonly perLane: number;
  }): Pick<StoredView, 'candidates' | 'nextRetryAt'> {
    const { now, perLane } = at;
    const retrying = this.#listTimed(({ progress: { state } }) => state === 'retrying');
    const due = new Map<number, Candidate[]>();
    for (const { upgrade, dueAt } of retrying) {
      if (dueAt > now) break;
      const { lane, collectorId } = upgrade.identity;
      const ofLane = due.get(lane) ?? [];
      if (ofLane.length < perLane) ofLane.push({ collectorId, order: dueAt });
      due.set(lane, ofLane);
    }
    const candidates: LaneQueue[] = [];
    for (const queue of this.#pendingQueues(at)) {
      const retries = due.get(queue.lane);
      if (retries !== undefined) candidates.push({ ...queue, retries });
      else if (queue.pending.length > 0) candidates.push(queue);
    }
    return { candidates, nextRetryAt: retrying.find(({ dueAt }) => dueAt > now)?.dueAt ?? null };
  }

  /** Collectors whose step, other than a retry, was due before this instant, the earliest due first. */
  overdue(before: number): readonly number[] {
    const isOverdue = (upgrade: Upgrade) =>
      upgrade.progress.state !== 'retrying' && (dueAtOf(upgrade) ?? before) < before;
    return this.#listTimed(isOverdue).map(({ upgrade: { identity } }) => identity.collectorId);
  }

  #listTimed(isListed: (upgrade: Upgrade) => boolean) {
    return [...this.#timed.values()]
      .filter(isListed)
      .map((upgrade) => ({ upgrade, dueAt: dueAtOf(upgrade) ?? 0 }))
      .sort((a, b) => a.dueAt - b.dueAt || byName(a.upgrade, b.upgrade));
  }

  /** The pending upgrades of its lane and wave, for a change. */
  #pendingBeside({ identity: { lane, wave } }: Pick<Upgrade, 'identity'>): Upgrade[] {
    this.#lanes[lane] ??= [];
    this.#lanes[lane][wave] ??= [];
    if (this.#shown !== undefined) this.#shown.queues[lane] = undefined;
    return this.#lanes[lane][wave];
  }

  /** Every lane with its pending upgrades, in waves up to the frontier. */
  #pendingQueues(bounds: { readonly frontier: number; readonly perLane: number }): readonly LaneQueue[] {
    const { frontier, perLane } = bounds;
    if (this.#shown?.frontier !== frontier || this.#shown.perLane !== perLane)
      this.#shown = { frontier, perLane, queues: [] };
    const { queues } = this.#shown;
    return Array.from({ length: this.#lanes.length }, (_, lane) => {
      queues[lane] ??= { lane, retries: [], pending: this.#firstOf(lane, bounds) };
      return queues[lane];
    });
  }

  #firstOf(
    lane: number,
    { frontier, perLane }: { readonly frontier: number; readonly perLane: number },
  ): readonly Candidate[] {
    return (this.#lanes[lane] ?? [])
      .slice(0, frontier + 1)
      .flatMap((members) => members?.slice(0, perLane) ?? [])
      .slice(0, perLane)
      .map(({ identity: { collectorId, order } }) => ({ collectorId, order }));
  }
}

/** Redis sorts members with the same score by name, which for a retry includes the lane. */
export function byName(a: Upgrade, b: Upgrade): number {
  return memberNameOf(a) < memberNameOf(b) ? -1 : 1;
}

function memberNameOf({ progress, identity: { collectorId, lane } }: Upgrade): string {
  return progress.state === 'retrying' ? `${collectorId}:${lane}` : String(collectorId);
}
