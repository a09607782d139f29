import type { AccountMark, AccountStatus } from '../../rollout/model/account.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';

/** Which account a rollout belongs to (P5), compared with the account of this daemon's config. */
export interface Accounts {
  /** The mark of this daemon's account, for a rollout that it starts. */
  mark(): Promise<AccountMark>;
  /** The present finding. Where it is missing, a background task starts to find out. */
  statusOf(rollout: Rollout): Promise<AccountStatus>;
  /** The same, after a request to the service where one is needed. */
  settle(rollout: Rollout, signal?: AbortSignal): Promise<AccountStatus>;
  /** Running rollouts that this daemon leaves alone until a person acts. */
  foreign(): readonly ForeignRollout[];
  /** Drops those that have ended meanwhile, whoever ended them. */
  forgetEnded(): Promise<void>;
}

export interface ForeignRollout {
  readonly rolloutId: string;
  readonly policy: string;
  readonly reason: string;
}
