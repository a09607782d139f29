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
  /** Its config outside of the policies; absent in earlier versions. */
  readonly settings?: readonly SettingHash[];
}

/** A key of the config outside of the policies, such as `notify`, with a hash of its content. */
export interface SettingHash {
  readonly key: string;
  readonly hash: string;
}

/** How the config of a daemon differs from those of others outside of the policies. */
export interface SettingsDifference {
  /** The keys that differ, in the order of the own config. */
  readonly keys: readonly string[];
  /** How many other daemons have something else there. */
  readonly others: number;
}

/**
 * Compares the config outside of the policies with those of the other running daemons; undefined if all agree. The access
 * key is the key of the hashes, so a daemon with another one differs in all of them: that counts as its `service` alone.
 */
export function compareSettings(
  own: readonly SettingHash[],
  others: readonly LivingDaemon[],
): SettingsDifference | undefined {
  const differing = others.map(({ settings = [] }) => {
    const hashes = new Map(settings.map(({ key, hash }) => [key, hash]));
    const some = own.filter(({ key, hash }) => hashes.has(key) && hashes.get(key) !== hash);
    return some.length > 1 && some.length === own.length ? some.filter(({ key }) => key === 'service') : some;
  });
  const keys = own.filter((each) => differing.some((some) => some.includes(each))).map(({ key }) => key);
  if (keys.length === 0) return undefined;
  return { keys, others: differing.filter((some) => some.length > 0).length };
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
