import { makeChances } from './chances.ts';
import { changeFaults, type FaultKind, type FeatureKind, highestOf, type Setup } from './setup.ts';

/**
 * What some nights are about, because chance seldom brings together all that it takes: groups that failed in a rollout before the
 * night, or in the first rollout of the night, before one to a newer build; or a stratum whose failures are those of a group.
 */
export type Theme = 'none' | 'recordedHistory' | 'playedHistory' | 'takeover';

export function themeOf({ seed, words, faults, features }: Setup): Theme {
  const draw = makeChances(seed, 'theme').next();
  const isCalm = words === 0 && Object.values(faults).every((share) => share === 0);
  if (draw < 0.08) return features.history ? 'recordedHistory' : 'none';
  if (isCalm) return 'none';
  if (draw < 0.16) return features.history ? 'playedHistory' : 'none';
  return draw < 0.26 && features.takeovers ? 'takeover' : 'none';
}

// Enough that failures of a group are more than chance.
const collectorsMin = 40;
// Two rollouts, or a hold and its releases.
const troubleMinMs = 24 * 3_600_000;

// They would be in its way: failures of others, and what a rollout waits for.
const otherFailures: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'taskFails',
  'taskStuck',
  'taskLost',
  'taskOtherBuild',
  'badStratum',
  'badCluster',
  'silenced',
]);
const hindrances: readonly FeatureKind[] = [
  'planApproval',
  'waveApproval',
  'gates',
  'searches',
  'windows',
  'freezes',
  'ownCalendar',
  'pace',
  'minimumAge',
];

/** The same night with what its theme takes. */
export function withTheme(setup: Setup): Setup {
  const theme = themeOf(setup);
  if (theme !== 'playedHistory' && theme !== 'takeover') return setup;
  const isTakeover = theme === 'takeover';
  const bad = isTakeover ? 'badStratum' : 'badCluster';
  const off = Object.fromEntries(hindrances.map((kind) => [kind, false]));
  const night = {
    ...setup,
    features: { ...setup.features, ...off },
    collectors: Math.max(collectorsMin, setup.collectors),
    troubleMs: Math.max(troubleMinMs, setup.troubleMs),
    words: Math.max(1, setup.words),
    leansTo: [
      ...setup.leansTo,
      'failures' as const,
      isTakeover ? ('strata' as const) : ('newerAfter' as const),
    ],
  };
  return changeFaults(night, (kind) => {
    if (kind === bad && !setup.without.includes(kind)) return highestOf(kind);
    return otherFailures.has(kind) ? 0 : setup.faults[kind];
  });
}
