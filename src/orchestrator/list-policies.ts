import type { EpochMs } from '../base/time.ts';
import type { RolloutStore } from './ports.ts';
import type { ScanBook, ScanEntry, ScanForecast, ScanOutcome } from './scan-book.ts';

/** How a policy's looks for work went. */
export interface PolicyStanding {
  readonly policy: string;
  /** null before the first one. */
  readonly lastLook: { readonly at: EpochMs; readonly outcome: ScanOutcome; readonly reason: string } | null;
  /** The last one that did not fail. */
  readonly lastGoodAt: EpochMs | null;
  /** By its schedule. */
  readonly nextLookAt: EpochMs | null;
}

/** The policies of the config, in its order. */
export interface PolicyStandings {
  readonly policies: readonly PolicyStanding[];
}

export interface ListPoliciesParts {
  readonly store: Pick<RolloutStore, 'activeRolloutIds' | 'loadRollout'>;
  readonly scans: Pick<ScanBook, 'read'>;
  readonly forecast: ScanForecast;
  /** Names of all policies of the config. */
  readonly policies: readonly string[];
}

/** Tells for each policy when it looked for work last, what came of it, and when it looks next. */
export async function listPolicies(parts: ListPoliciesParts): Promise<PolicyStandings> {
  const entries = await parts.scans.read();
  return {
    policies: parts.policies.map((policy) => {
      const own = entries.filter((entry) => entry.policy === policy);
      const last = latest(own);
      return {
        policy,
        lastLook: last === undefined ? null : { at: last.at, outcome: last.outcome, reason: last.reason },
        lastGoodAt: lastGoodLook(own)?.at ?? null,
        nextLookAt: parts.forecast(policy, 1)[0] ?? null,
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
