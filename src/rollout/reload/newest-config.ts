import type { EpochMs } from '../../base/time.ts';

/** A running daemon, as it reports itself. */
export interface LivingDaemon {
  /** False for `run --once`, which scans only when it starts. */
  readonly followsSchedule: boolean;
  /** Mark of its account. Different marks may still belong to the same account. */
  readonly account: string;
  /** When it last reported, by the clock of Redis. A killed daemon counts as alive for some seconds. */
  readonly beatAt: EpochMs;
  /** Its config of each policy. */
  readonly configs: readonly PolicyConfig[];
}

/** Identifies a policy's config. */
export interface PolicyConfig {
  readonly policy: string;
  /** Hash of the policy's content. */
  readonly hash: string;
  /** Increases with each config that is new to the installation. */
  readonly generation: number;
}

/** A daemon's config of one policy, compared with those of the other running daemons. */
export interface ConfigStatus {
  /**
   * `outdated`: others have a newer config and scan the policy. `newest`: others have a different config, which is older
   * or belongs to a daemon without schedules.
   */
  readonly kind: 'agreed' | 'newest' | 'outdated';
  /** How many other daemons have that config. */
  readonly others: number;
}

/** A config status as shown to operators. `superseded`: the limits in force come from a newer config that no daemon has. */
export interface ShownConfigStatus {
  readonly kind: ConfigStatus['kind'] | 'superseded';
  readonly others: number;
}

/**
 * Decides which config of a policy applies (P5): the newest among the running daemons. A reverted config applies again
 * once the last daemon with the newer one has stopped. A daemon without schedules makes no other daemon outdated, because
 * nobody would scan the policy after its only scan.
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
