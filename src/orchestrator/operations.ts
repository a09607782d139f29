import type { RolloutEvent } from '../rollout/events.ts';
import type { RolloutStatus } from '../rollout/status.ts';
import type { Upgrade, UpgradeState } from '../rollout/upgrade.ts';

/** What an operator asks of a rollout. */
export type Verb = 'pause' | 'resume' | 'abort';

export interface VerbRequest {
  readonly rolloutId: string;
  readonly verb: Verb;
  readonly by: string;
  readonly reason: string;
}

/** `refused`: the verb is not legal in this state; `reason` says why, in an operator's words. */
export type VerbResult =
  | { readonly kind: 'done'; readonly status: RolloutStatus }
  | { readonly kind: 'unchanged'; readonly status: RolloutStatus }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknownRollout' };

/** What an operator can see and do, over HTTP or in the same process. */
export interface Operations {
  /** Newest first, ended ones included. */
  listRollouts(): Promise<readonly RolloutStatus[]>;
  rolloutStatus(rolloutId: string): Promise<RolloutStatus | undefined>;
  /** A page of the rollout's collectors in plan order. */
  listUpgrades(
    rolloutId: string,
    page: { readonly offset: number; readonly limit: number; readonly state?: UpgradeState },
  ): Promise<readonly Upgrade[] | undefined>;
  /** The latest events, newest first. */
  readEvents(rolloutId: string, limit: number): Promise<readonly RolloutEvent[] | undefined>;
  /** When it answers, the verb holds: after a `pause` or `abort` no create leaves from any daemon (P4). */
  apply(request: VerbRequest): Promise<VerbResult>;
}
