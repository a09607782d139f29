import type { CollectorMatch } from '../scenario/happenings.ts';
import { hashShare } from '../scenario/random.ts';
import type { CollectorFacts } from './simulated-collector.ts';

export interface MatchCandidate {
  readonly facts: CollectorFacts;
  readonly version: string;
}

/** A match of the scenario, with its `count` resolved to ids. */
export interface ResolvedMatch {
  readonly match: CollectorMatch;
  /** Identifies this match in the hash that chooses a share. */
  readonly key: string;
  /** The chosen collectors, if the match has a `count`. */
  readonly chosenIds: ReadonlySet<number> | null;
}

/** Chooses the collectors of a match with a `count` among those that could be upgraded at the start. */
export function resolveMatch(
  match: CollectorMatch,
  key: string,
  upgradable: readonly MatchCandidate[],
): ResolvedMatch {
  if (match.count === undefined) return { match, key, chosenIds: null };
  const open: ResolvedMatch = { match, key, chosenIds: null };
  const rank = ({ facts }: MatchCandidate) => hashShare(`${key}:count:${facts.id}`);
  const chosen = upgradable
    .filter((candidate) => matchesCollector(open, candidate))
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, match.count);
  return { match, key, chosenIds: new Set(chosen.map(({ facts }) => facts.id)) };
}

/** True when all given keys of the match hold. */
export function matchesCollector(resolved: ResolvedMatch, { facts, version }: MatchCandidate): boolean {
  const { match, key, chosenIds } = resolved;
  if (chosenIds !== null && !chosenIds.has(facts.id)) return false;
  if (match.ids !== undefined && !match.ids.includes(facts.id)) return false;
  if (match.ephemeral !== undefined && match.ephemeral !== facts.ephemeral) return false;
  if (match.share !== undefined && hashShare(`${key}:share:${facts.id}`) >= match.share) return false;
  return (
    matchesGlob(match.name, facts.name) &&
    matchesGlob(match.category, facts.category) &&
    matchesGlob(match.osName, facts.osName) &&
    matchesGlob(match.osArch, facts.osArch) &&
    matchesGlob(match.version, version)
  );
}

/** `*` is any text, `?` any character. Without a glob everything matches. A glob never matches an absent text. */
export function matchesGlob(glob: string | undefined, text: string | null | undefined): boolean {
  if (glob === undefined) return true;
  if (text === undefined || text === null) return false;
  const pattern = glob
    .replace(/[.+^$()|[\]{}\\]/g, '\\$&')
    .replace(/\*/g, '.*')
    .replace(/\?/g, '.');
  return new RegExp(`^${pattern}$`, 's').test(text);
}
