import type { SeenRollout, SeenRollouts } from '../judge/seen-rollouts.ts';
import {
  type HappeningKind,
  happeningKinds,
  isState,
  nameOfPair,
  type Pair,
  pairOf,
  type StateKind,
} from './kinds.ts';

/** What a happening is about: a collector, or a rollout; everything, where both are left out. */
export interface Subject {
  readonly rolloutId?: string;
  readonly collectorId?: number;
}

/** Which pairs this night has met. */
export interface Meetings {
  /** Something happens now. It meets the states of what it is about, and whatever else happened within a minute. */
  note(kind: HappeningKind, subject?: Subject): void;
  /** Whether there is now what a happening would meet. */
  isThere(other: HappeningKind | StateKind): boolean;
  /** Something that is in this state now; undefined where nothing is. */
  anyIn(state: StateKind): Subject | undefined;
  /** By their names. */
  readonly met: ReadonlyMap<string, Pair>;
}

const apartMs = 60_000;

export function makeMeetings(
  { all }: Pick<SeenRollouts, 'all'>,
  now: () => number,
  onNoted: (kind: HappeningKind) => void,
): Meetings {
  const met = new Map<string, Pair>();
  const meet = (pair: Pair) => met.set(nameOfPair(pair), pair);
  const lastAt = new Map<HappeningKind, number>();
  const isRecent = (kind: HappeningKind) => now() - (lastAt.get(kind) ?? Number.NEGATIVE_INFINITY) < apartMs;
  return {
    met,
    note: (kind, subject = {}) => {
      if (!happeningKinds.includes(kind)) return;
      for (const state of statesOf(all, subject)) meet({ happening: kind, other: state });
      for (const other of happeningKinds) if (other !== kind && isRecent(other)) meet(pairOf(kind, other));
      lastAt.set(kind, now());
      onNoted(kind);
    },
    isThere: (other) => (isState(other) ? anyIn(all, other) !== undefined : isRecent(other)),
    anyIn: (state) => anyIn(all, state),
  };
}

function statesOf(
  all: ReadonlyMap<string, SeenRollout>,
  { rolloutId, collectorId }: Subject,
): ReadonlySet<StateKind> {
  const states = new Set<StateKind>();
  for (const { rollout, upgrades } of all.values()) {
    if (rolloutId !== undefined && rollout.id !== rolloutId) continue;
    const own = collectorId === undefined ? undefined : upgrades.get(collectorId);
    if (collectorId !== undefined && own === undefined) continue;
    states.add(`rollout ${rollout.state}`);
    for (const [index, { state }] of rollout.waves.entries())
      if (own === undefined || own.identity.wave === index) states.add(`wave ${state}`);
    for (const { progress } of own === undefined ? upgrades.values() : [own])
      states.add(`upgrade ${progress.state}`);
  }
  return states;
}

function anyIn(all: ReadonlyMap<string, SeenRollout>, wanted: StateKind): Subject | undefined {
  for (const { rollout, upgrades } of all.values()) {
    const { id: rolloutId } = rollout;
    for (const { identity, progress } of upgrades.values()) {
      const { collectorId, wave } = identity;
      const isIt =
        wanted === `upgrade ${progress.state}` ||
        wanted === `rollout ${rollout.state}` ||
        wanted === `wave ${rollout.waves[wave]?.state}`;
      if (isIt) return { rolloutId, collectorId };
    }
  }
  return undefined;
}
