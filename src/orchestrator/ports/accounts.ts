import type { AccountMark, AccountStatus } from '../../rollout/model/account.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';

/** Which account a rollout belongs to (P5), compared with the account of this daemon's config. */
export interface Accounts {
  /** The mark of this daemon's account, for a rollout that it starts. */
  mark(): Promise<AccountMark>;
  /** The current status. If it is unknown, a background task starts to determine it. */
  statusOf(rollout: Rollout): Promise<AccountStatus>;
  /** Determines the status, with requests to the service if needed. */
  settle(rollout: Rollout, signal?: AbortSignal): Promise<AccountStatus>;
  /** Running rollouts that this daemon leaves alone until a person acts. */
  foreign(): readonly ForeignRollout[];
  /** Forgets what is known of ended rollouts. */
  forgetEnded(): Promise<void>;
}

export interface ForeignRollout {
  readonly rolloutId: string;
  readonly policy: string;
  readonly reason: string;
}
