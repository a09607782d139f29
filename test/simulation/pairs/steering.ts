import { makeChances } from '../chances.ts';
import type { Setup } from '../setup.ts';
import type { Scheduler } from '../world/scheduler.ts';
import { type HappeningKind, isState, nameOfPair, type Pair, type StateKind } from './kinds.ts';
import type { Meetings, Subject } from './meetings.ts';
import { happeningsOf, ofGates } from './wanted.ts';

/** Brings about the pairs that a night wants: it waits for one half, and makes the other happen. */
export interface Steering {
  /**
   * Registers what can be made to happen at any moment.
   * @param happen gets the rollout or collector in the wanted state; undefined where no state is wanted
   */
  able(kind: HappeningKind, happen: (subject: Subject | undefined) => void): void;
  /** Whether what happens at calls, by chance, happens at this one because it is wanted. */
  wants(kind: HappeningKind): boolean;
  /**
   * Registers what can be made to happen as long as a call is under way, if a pair waits for it.
   * @returns ends that; undefined where no pair waits
   */
  underWay(kind: HappeningKind, happen: () => void): (() => void) | undefined;
  /** States have changed, or something has happened. */
  look(): void;
}

// What was wanted may be over when it happens, or be refused.
const triesMax = 12;
const triesApartMs = 40_000;

// Of a pair of happenings the first one comes again where the second did not follow.
const leadsMax = 6;
const leadsApartMs = 150_000;

// Calls that wait for a pair take their time, in which their rollout gets no answer.
const underWayMax = 6;

interface WantedPair extends Pair {
  readonly name: string;
  /** From then on the first of two happenings is made to happen. */
  readonly leadsAt: number;
  tries: number;
  triedAt: number;
  leads: number;
  ledAt: number;
}

export function makeSteering(
  setup: Setup,
  wanted: readonly Pair[],
  {
    scheduler,
    meetings,
    isTroubled,
  }: {
    readonly scheduler: Scheduler;
    readonly meetings: () => Meetings;
    readonly isTroubled: () => boolean;
  },
): Steering {
  const chances = makeChances(setup.seed, 'steering');
  const doers = new Map<HappeningKind, (subject: Subject | undefined) => void>();
  let open: readonly WantedPair[] = wanted.map((pair) => ({
    ...pair,
    name: nameOfPair(pair),
    leadsAt: scheduler.now() + chances.between(0.02, 0.5) * setup.troubleMs,
    ...{ tries: 0, triedAt: Number.NEGATIVE_INFINITY, leads: 0, ledAt: Number.NEGATIVE_INFINITY },
  }));
  const underWay = new Map<HappeningKind, number>();
  const wantedKinds = new Set(wanted.flatMap(happeningsOf));
  const stillOpen = (): readonly WantedPair[] => {
    if (open.length > 0) open = open.filter(({ name }) => !meetings().met.has(name));
    return isTroubled() ? open : [];
  };
  const othersOf = ({ happening, other }: WantedPair, kind: HappeningKind): HappeningKind | StateKind =>
    kind === happening ? other : happening;
  /** Which of two happenings begins: one that depends on calls, as the other one can follow at once, or on rare ones. */
  const leaderOf = ({ happening, other }: WantedPair): HappeningKind | undefined => {
    if (isState(other)) return undefined;
    if (ofGates.has(other) && !ofGates.has(happening) && !doers.has(other)) return other;
    return doers.has(happening) && !doers.has(other) ? other : happening;
  };
  const mayLead = (pair: WantedPair, kind: HappeningKind): boolean =>
    leaderOf(pair) === kind &&
    scheduler.now() >= pair.leadsAt &&
    pair.leads < leadsMax &&
    scheduler.now() - pair.ledAt >= leadsApartMs;
  const leads = (pair: WantedPair): void => {
    pair.leads += 1;
    pair.ledAt = scheduler.now();
  };
  const follow = (
    pair: WantedPair,
    kind: HappeningKind,
    happen: (subject: Subject | undefined) => void,
  ): void => {
    const other = othersOf(pair, kind);
    if (pair.tries >= triesMax || scheduler.now() - pair.triedAt < triesApartMs || !meetings().isThere(other))
      return;
    pair.tries += 1;
    pair.triedAt = scheduler.now();
    // Some states last for a moment only, and some happenings have an effect a little later.
    const afterMs = chances.hit(0.5) ? 0 : chances.int(0, 20_000);
    scheduler.at(scheduler.now() + afterMs, () => {
      if (stillOpen().includes(pair) && meetings().isThere(other))
        happen(isState(other) ? meetings().anyIn(other) : undefined);
    });
  };
  const look = (): void => {
    for (const pair of stillOpen())
      for (const kind of happeningsOf(pair)) {
        const happen = doers.get(kind);
        if (happen !== undefined) follow(pair, kind, happen);
      }
  };
  for (const pair of open) {
    const lead = (): void => {
      const kind = leaderOf(pair);
      const happen = kind === undefined ? undefined : doers.get(kind);
      if (kind === undefined || happen === undefined || !stillOpen().includes(pair)) return;
      if (mayLead(pair, kind)) {
        leads(pair);
        happen(undefined);
      }
      scheduler.at(scheduler.now() + leadsApartMs, lead);
    };
    if (!isState(pair.other)) scheduler.at(pair.leadsAt, lead);
  }
  return {
    able: (kind, happen) => doers.set(kind, happen),
    wants: (kind) => {
      if (open.length === 0 || !wantedKinds.has(kind)) return false;
      for (const pair of stillOpen()) {
        if (!happeningsOf(pair).includes(kind)) continue;
        if (meetings().isThere(othersOf(pair, kind)) && pair.tries < triesMax) {
          pair.tries += 1;
          return true;
        }
        if (!mayLead(pair, kind)) continue;
        leads(pair);
        return true;
      }
      return false;
    },
    underWay: (kind, happen) => {
      const begun = underWay.get(kind) ?? 0;
      if (!wantedKinds.has(kind) || begun >= underWayMax) return undefined;
      const isAwaited = stillOpen().some(
        (pair) => happeningsOf(pair).includes(kind) && pair.tries < triesMax,
      );
      if (!isAwaited) return undefined;
      underWay.set(kind, begun + 1);
      doers.set(kind, happen);
      look();
      return () => {
        if (doers.get(kind) === happen) doers.delete(kind);
      };
    },
    look,
  };
}
