import type { Clock, DurationMs, EpochMs } from '../../base/time.ts';
import type { LivingDaemon } from '../../rollout/reload/newest-config.ts';
import type { ScanBook } from '../ports/scan-book.ts';

export interface PolicyClaimsParts {
  readonly scans: Pick<ScanBook, 'read'>;
  readonly clock: Clock;
  /** Names of all policies of the config. */
  readonly policies: () => readonly string[];
  /** The other running daemons at the last beat. */
  readonly configs: { readonly living: () => { readonly others: readonly LivingDaemon[] } };
}

export type PolicyClaims = ReturnType<typeof makePolicyClaims>;

// A policy appears here before its first rollout sends a create: it is in a config of a running daemon, or has scanned.
const readEveryMs: DurationMs = 1_000;

/** Tracks the policies whose rollouts may claim collectors, and which of them no running daemon's config has any more. */
export function makePolicyClaims({ scans, clock, policies, configs }: PolicyClaimsParts) {
  let readAt: EpochMs = Number.NEGATIVE_INFINITY;
  let scanned: readonly string[] = [];
  const known = (): ReadonlySet<string> => {
    const others = configs.living().others.flatMap((each) => each.configs.map(({ policy }) => policy));
    return new Set([...policies(), ...others]);
  };
  return {
    /** Names of all policies whose rollouts may be upgrading collectors, including renamed and removed ones (P1). */
    names: async (): Promise<readonly string[]> => {
      // In both directions, because a clock that is set back must not delay it.
      if (Math.abs(clock.now() - readAt) > readEveryMs) {
        scanned = (await scans.read()).map(({ policy }) => policy);
        readAt = clock.now();
      }
      return [...new Set([...known(), ...scanned])];
    },
    /** Whether no running daemon's config has this policy. Its rollout starts nothing more. */
    isMissing: (policy: string): boolean => !known().has(policy),
  };
}
