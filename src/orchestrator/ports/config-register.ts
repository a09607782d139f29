import type { LivingDaemon, PolicyConfig } from '../../rollout/newest-config.ts';

export interface LivingDaemons {
  /** This daemon's own policies, with their generations. */
  readonly own: readonly PolicyConfig[];
  /** As the others see it. */
  readonly account: string;
  readonly others: readonly LivingDaemon[];
}

/** Where daemons say that they live, and with which config. */
export interface ConfigRegister {
  /** Says it again, and reads what the others say; who has not said it for some seconds is gone. */
  beat(): Promise<LivingDaemons>;
  /** Says that this daemon ends. */
  leave(): Promise<void>;
}
