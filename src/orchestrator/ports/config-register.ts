import type { EpochMs } from '../../base/time.ts';
import type { LivingDaemon, PolicyConfig } from '../../rollout/reload/newest-config.ts';

/** A policy of this daemon's config, with a name for what it says. */
export type NamedConfig = Pick<PolicyConfig, 'policy' | 'hash'>;

export interface LivingDaemons {
  /** This daemon's own policies, with their generations. */
  readonly own: readonly PolicyConfig[];
  /** As the others see it. */
  readonly account: string;
  /** When this beat was, by the clock of Redis. */
  readonly beatAt: EpochMs;
  readonly others: readonly LivingDaemon[];
}

/** Where daemons say that they live, and with which config. */
export interface ConfigRegister {
  /** Says it again, and reads what the others say; who has not said it for some seconds is gone. */
  beat(): Promise<LivingDaemons>;
  /**
   * From the next beat on these are its policies. Those that say something else than before get a new generation, also
   * where the same was in use before: whoever reads a config again means what it says now.
   */
  replace(own: readonly NamedConfig[]): void;
  /** Says that this daemon ends. */
  leave(): Promise<void>;
}
