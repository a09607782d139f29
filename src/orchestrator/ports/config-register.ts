import type { EpochMs } from '../../base/time.ts';
import type { LivingDaemon, PolicyConfig, SettingHash } from '../../rollout/reload/newest-config.ts';

/** A policy of this daemon's config, with a hash of its content. */
export type NamedConfig = Pick<PolicyConfig, 'policy' | 'hash'>;

export interface LivingDaemons {
  /** This daemon's own policies, with their generations. */
  readonly own: readonly PolicyConfig[];
  /** Mark of this daemon's account. */
  readonly account: string;
  /** When this beat was, by the clock of Redis. */
  readonly beatAt: EpochMs;
  readonly others: readonly LivingDaemon[];
  /** This daemon's config outside of its policies. */
  readonly settings?: readonly SettingHash[];
}

/** Where daemons report that they are alive, and which config they have. */
export interface ConfigRegister {
  /** Reports this daemon, and reads the reports of the others. A daemon without a report for some seconds has stopped. */
  beat(): Promise<LivingDaemons>;
  /**
   * Sets the policies from the next beat on. Changed policies get a new generation, even if the same content was in use
   * before, because the operator who reloads a config wants its current content.
   */
  replace(own: readonly NamedConfig[]): void;
  /** Reports that this daemon stops. */
  leave(): Promise<void>;
}
