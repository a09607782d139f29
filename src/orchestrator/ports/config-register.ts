import type { EpochMs } from '../../base/time.ts';
import type { LivingDaemon, PolicyConfig } from '../../rollout/reload/newest-config.ts';

/** A policy of this daemon's config, with a hash of its content. */
export type NamedConfig = Pick<PolicyConfig, 'policy' | 'hash'>;

export interface LivingDaemons {
  /** This daemon's own policies, with their generations. */
  readonly own: readonly PolicyConfig[];
  /** The same for the other daemons. */
  readonly account: string;
  /** When this beat was, by the clock of Redis. */
  readonly beatAt: EpochMs;
  readonly others: readonly LivingDaemon[];
}

/** Where daemons report that they are alive, and which config they have. */
export interface ConfigRegister {
  /** Reports again, and reads the reports of the others. A daemon without a report for some seconds is gone. */
  beat(): Promise<LivingDaemons>;
  /**
   * Sets the policies from the next beat on. Changed policies get a new generation, even where the same content was in use
   * before: the operator who reloads a config wants its present content.
   */
  replace(own: readonly NamedConfig[]): void;
  /** Reports that this daemon stops. */
  leave(): Promise<void>;
}
