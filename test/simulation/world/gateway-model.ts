import type { SimulatedCollector } from '../../../src/reference-service/fleet/simulated-collector.ts';
import { type Chances, makeChances } from '../chances.ts';
import type { SeenRollouts } from '../judge/seen-rollouts.ts';
import type { FaultKind, Setup } from '../setup.ts';
import type { Scheduler } from './scheduler.ts';

/** What a gateway does for a while, beside passing on what the service says. */
export const spellKinds = ['listsEmpty', 'listsPartial', 'listsShrink', 'massNotFound', 'pollsFail'] as const;
export type SpellKind = (typeof spellKinds)[number];

/**
 * What stands between the daemons and the service and answers in its place at times: a role that was taken away, another
 * tenant's gateway, a cache that lost pages, a proxy whose clock is wrong. The fleet itself is as it was.
 */
export interface GatewayModel {
  begin(kind: SpellKind): void;
  /** Which of those that are there a list shows now. */
  listed(present: readonly SimulatedCollector[]): readonly SimulatedCollector[];
  /** Whether a collector, or its task, is answered with 404 although it is there. */
  isDenied(collectorId: number): boolean;
  /** Looks at single collectors bring no answer, while lists do. */
  pollsFail(): boolean;
  /** The service's clock, as the `Date` of this answer tells it. @param chances one for each daemon */
  date(chances: Chances): number;
}

interface Spell {
  readonly kind: SpellKind;
  readonly from: number;
  readonly until: number;
  /** By collector, from 0 to 1: those below what is hidden now are. */
  readonly rank: (collectorId: number) => number;
  readonly share: number;
  /** Also what the other way of asking shows: lists, where single collectors are denied. */
  readonly isWhole: boolean;
}

const secondMs = 1_000;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

// One of the machines behind the gateway has a wrong clock for a while, and answers in turn with the others. A date that is
// wrong in every answer for half a minute is taken for a clock that was set (service-clock.ts).
const wrongForMs = 10 * minuteMs;
const machines = 3;

// One that a list lacks among few, and that is then denied, can't be distinguished from one that has left.
const apartMs = 15 * minuteMs;

export function makeGatewayModel(
  setup: Setup,
  scheduler: Scheduler,
  parts: {
    readonly seen: SeenRollouts;
    readonly isTroubled: () => boolean;
    readonly troubleEndsAt: number;
    readonly struck: (kind: FaultKind) => void;
  },
): GatewayModel {
  const { seen, isTroubled, troubleEndsAt, struck } = parts;
  const chances = makeChances(setup.seed, 'gateway');
  let spells: readonly Spell[] = [];
  let deniedUntil = 0;
  const answersOf = new Map<Chances, number>();
  let wrong = { slot: 0, byMs: 0 };
  const current = (): readonly Spell[] => {
    if (spells.length === 0) return spells;
    spells = spells.filter(({ until }) => until > scheduler.now());
    return spells;
  };
  /** Members of waves that are on their way: those on whose evidence the rest waits. */
  const canaries = (): ReadonlySet<number> => {
    const ids = new Set<number>();
    for (const { rollout, upgrades } of seen.all.values()) {
      if (rollout.endedAt !== null) continue;
      const wave = rollout.waves.findIndex(({ state }) => state === 'open' || state === 'soaking');
      for (const upgrade of upgrades.values())
        if (upgrade.identity.wave === wave) ids.add(upgrade.identity.collectorId);
    }
    return ids;
  };
  const isHidden = ({ kind, from, until, rank, share }: Spell, collectorId: number): boolean => {
    const grown = kind === 'listsShrink' ? (scheduler.now() - from) / (until - from) : share;
    return rank(collectorId) < grown;
  };

  return {
    begin: (kind) => {
      const from = scheduler.now();
      if (kind.startsWith('lists') && from < deniedUntil + apartMs) return;
      const lastsMs = chances.pick([
        15 * secondMs,
        90 * secondMs,
        5 * minuteMs,
        5 * minuteMs,
        20 * minuteMs,
        hourMs,
        4 * hourMs,
      ]);
      const isOfCanaries = (kind === 'listsPartial' || kind === 'massNotFound') && chances.hit(0.5);
      const chosen = isOfCanaries ? canaries() : undefined;
      const share = kind === 'listsEmpty' || chances.hit(0.3) ? 1 : chances.between(0.2, 0.9);
      const name = `spell/${kind}/${from}`;
      const ranks = new Map<number, number>();
      const drawn = (id: number): number => {
        const known = ranks.get(id) ?? makeChances(setup.seed, `${name}/${id}`).next();
        ranks.set(id, known);
        return known;
      };
      const rank = chosen === undefined ? drawn : (id: number) => (chosen.has(id) ? 0 : 2);
      const isWhole = !isOfCanaries && share === 1 && chances.hit(0.5);
      const until = Math.min(troubleEndsAt, from + lastsMs);
      if (kind === 'massNotFound') {
        deniedUntil = Math.max(deniedUntil, until);
        spells = spells.filter((spell) => !spell.kind.startsWith('lists'));
      }
      spells = [...spells, { kind, from, until, rank, share, isWhole }];
    },
    listed: (present) => {
      const hiding = current().filter(
        ({ kind, isWhole }) => kind.startsWith('lists') || (kind === 'massNotFound' && isWhole),
      );
      if (hiding.length === 0) return present;
      return present.filter(({ facts }) => !hiding.some((spell) => isHidden(spell, facts.id)));
    },
    isDenied: (collectorId) =>
      current().some((spell) => spell.kind === 'massNotFound' && isHidden(spell, collectorId)),
    pollsFail: () => current().some(({ kind }) => kind === 'pollsFail'),
    date: (of) => {
      const now = scheduler.now();
      const { dateJumps } = setup.faults;
      if (dateJumps === 0 || !isTroubled()) return now;
      const slot = Math.floor(now / wrongForMs);
      if (slot !== wrong.slot) {
        const drawn = makeChances(setup.seed, `date/${slot}`);
        wrong = { slot, byMs: drawn.hit(dateJumps) ? jumpOf(drawn) : 0 };
      }
      const answers = (answersOf.get(of) ?? 0) + 1;
      answersOf.set(of, answers);
      const isWrong = wrong.byMs !== 0 && answers % machines === 0;
      const byMs = isWrong ? wrong.byMs : of.hit(dateJumps) ? jumpOf(of) : 0;
      if (byMs !== 0) struck('dateJumps');
      return now + byMs;
    },
  };
}

/** By how much a wrong clock is off: more than five minutes, to either side. */
function jumpOf(chances: Chances): number {
  const byMs = chances.pick([6 * minuteMs, 20 * minuteMs, hourMs, 24 * hourMs, 400 * 24 * hourMs]);
  return chances.hit(0.5) ? byMs : -byMs;
}
