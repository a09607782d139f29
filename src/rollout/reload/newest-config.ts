import type { EpochMs } from '../../base/time.ts';

/** A daemon that lives, as it says of itself. */
export interface LivingDaemon {
  /** False for `run --once`, which scans when it starts, and never again. */
  readonly followsSchedule: boolean;
  /** Names the account that it works for; another name may still be the same account. */
  readonly account: string;
  /** When it last said that it lives, by the clock of Redis. One that was killed says it no more, and lives on for some seconds. */
  readonly beatAt: EpochMs;
  /** By policy: which config it has of it. */
  readonly configs: readonly PolicyConfig[];
}

/** A policy as one config has it. */
export interface PolicyConfig {
  readonly policy: string;
  /** Names what the policy says; two configs that say the same have the same. */
  readonly hash: string;
  /** Grows with each config that is new to the installation. */
  readonly generation: number;
}

/** How the config of a daemon stands to those of the other living ones, for one policy. */
export interface ConfigStatus {
  /** `outdated`: others have a newer one, and scans of the policy are theirs. `newest`: others have another one, newer only where they follow no schedule. */
  readonly kind: 'agreed' | 'newest' | 'outdated';
  /** How many others those are. */
  readonly others: number;
}

/** The same for a person, who also sees that limits in force come from a newer config which no running daemon has. */
export interface ShownConfigStatus {
  readonly kind: ConfigStatus['kind'] | 'superseded';
  readonly others: number;
}

/**
 * Judges which config of a policy counts (P5): the newest among those of living daemons. A config that was rolled back
 * counts again once the last daemon with the other one is gone, and a policy that only one daemon has is always served.
 * A daemon without schedules makes nobody outdated: when it has scanned, nobody else would look after the policy.
 */
export function judgeConfig(own: PolicyConfig, others: readonly LivingDaemon[]): ConfigStatus {
  const differing = others.flatMap(({ followsSchedule, configs }) => {
    const config = configs.find(({ policy }) => policy === own.policy);
    return config === undefined || config.hash === own.hash ? [] : [{ followsSchedule, config }];
  });
  if (differing.length === 0) return { kind: 'agreed', others: 0 };
  const newer = differing.filter(
    ({ followsSchedule, config }) => followsSchedule && config.generation > own.generation,
  );
  return newer.length > 0
    ? { kind: 'outdated', others: newer.length }
    : { kind: 'newest', others: differing.length };
}
