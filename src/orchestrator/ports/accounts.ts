import type { AccountMark, AccountStatus } from '../../rollout/model/account.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';

/** Whose rollouts are whose (P5): the account of this daemon's config, and how each rollout stands to it. */
export interface Accounts {
  /** The mark of this daemon's account, for a rollout that it begins. */
  mark(): Promise<AccountMark>;
  /** What is known by now; where that is to be found out, a background task begins to. */
  statusOf(rollout: Rollout): Promise<AccountStatus>;
  /** The same, after the service was asked where that is needed. */
  settle(rollout: Rollout, signal?: AbortSignal): Promise<AccountStatus>;
  /** Running rollouts that this daemon leaves alone until a person acts. */
  foreign(): readonly ForeignRollout[];
  /** Forgets those of them that are over by now, whoever ended them. */
  forgetEnded(): Promise<void>;
}

export interface ForeignRollout {
  readonly rolloutId: string;
  readonly policy: string;
  readonly reason: string;
}
