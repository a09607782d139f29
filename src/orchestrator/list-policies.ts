import type { EpochMs } from '../base/time.ts';
import type { ConfigStanding } from '../rollout/newest-config.ts';
import type { Configs } from './configs.ts';
import { type FindOrphansParts, findOrphans, type OrphanedRollout } from './find-orphans.ts';
import type { ScanEntry, ScanForecast, ScanOutcome } from './ports/scan-book.ts';

/** How a policy's looks for work went. */
export interface PolicyStanding {
  readonly policy: string;
  /** null before the first one. */
  readonly lastLook: { readonly at: EpochMs; readonly outcome: ScanOutcome; readonly reason: string } | null;
  /** The last one that did not fail. */
  readonly lastGoodAt: EpochMs | null;
  /** By its schedule. */
  readonly nextLookAt: EpochMs | null;
  /** How the config of the daemon that was asked stands to those of the others. */
  readonly config: ConfigStanding;
}

export interface PolicyStandings {
  /** Those of the config, in its order. */
  readonly policies: readonly PolicyStanding[];
  readonly orphans: readonly OrphanedRollout[];
  /** Why Redis lets the daemon that answers do no work; absent while it does. */
  readonly notReady?: string;
  /** What is wrong with the config file of the daemon that answers, which works by the one before; absent: nothing. */
  readonly configProblem?: string;
}

export interface ListPoliciesParts extends FindOrphansParts {
  readonly forecast: ScanForecast;
  /** All daemons agree, where left out. */
  readonly configs?: Pick<Configs, 'standings'>;
}

/** Tells for each policy when it looked for work last, what came of it, and when it looks next; and what stands still without one. */
export async function listPolicies(parts: ListPoliciesParts): Promise<PolicyStandings> {
  const [entries, orphans] = await Promise.all([parts.scans.read(), findOrphans(parts)]);
  return {
    orphans,
    policies: parts.policies.map((policy) => {
      const own = entries.filter((entry) => entry.policy === policy);
      const last = latest(own);
      return {
        policy,
        lastLook: last === undefined ? null : { at: last.at, outcome: last.outcome, reason: last.reason },
        lastGoodAt: lastGoodLook(own)?.at ?? null,
        nextLookAt: parts.forecast(policy, 1)[0] ?? null,
        config: parts.configs?.standings().get(policy) ?? { kind: 'agreed', others: 0 },
      };
    }),
  };
}

/** The latest that did not fail, of the entries of one policy. */
export function lastGoodLook(entries: readonly ScanEntry[]): ScanEntry | undefined {
  return latest(entries.filter(({ outcome }) => outcome !== 'failed'));
}

function latest(entries: readonly ScanEntry[]): ScanEntry | undefined {
  return entries.reduce<ScanEntry | undefined>(
    (best, entry) => (best === undefined || entry.at > best.at ? entry : best),
    undefined,
  );
}
