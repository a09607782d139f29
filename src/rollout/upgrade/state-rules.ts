import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { Policy } from '../model/policy.ts';
import type { Upgrade, UpgradeIn, UpgradeState } from '../model/upgrade.ts';
import type { FactKind, FactOf, InventoryRow } from './facts.ts';
import type { Step } from './step.ts';
import type { EvolveContext } from './transitions.ts';

/** All that may happen in one state. Each state has a file with its rules, and `evolve.ts` has the table of them. */
export interface StateRules<State extends UpgradeState> {
  /**
   * What the upgrade needs once it is due.
   * @param trustedSince what was seen before is polled again: the record may be older than a create that was lost (P1)
   */
  readonly nextStep: (upgrade: UpgradeIn<State>, now: EpochMs, trustedSince: EpochMs) => Step;
  /** What polls are for, and when they have failed for too long; absent in a state without polls. */
  readonly polls?: PollLimit<State>;
  /** What the inventory shows of it; absent where that is of no use. */
  readonly rows?: RowRules<State>;
  /** The answer to each fact. One that does not fit the state returns the very same record. */
  readonly on: { readonly [Kind in FactKind]: Answer<UpgradeIn<State>, Kind> };
}

export type Answer<Of extends Upgrade, Kind extends FactKind> = (
  upgrade: Of,
  fact: FactOf<Kind>,
  context: EvolveContext,
) => Upgrade;

/** When failed polls end an upgrade, or give its slot back. */
export interface PollLimit<State extends UpgradeState> {
  /** Whether the upgrade should have shown by now what it is polled for. */
  readonly isTimeUp: (upgrade: UpgradeIn<State>, at: EpochMs, policy: Policy) => boolean;
  /** For how long after that the service has to leave this one unanswered while it answers others. */
  readonly unansweredForMs: DurationMs;
  readonly giveUp: Answer<UpgradeIn<State>, 'pollFailed'>;
}

export interface RowRules<State extends UpgradeState> {
  /** Whether rows take the place of polls, so that the upgrade counts for how often pages are read. */
  readonly isWatched: (upgrade: UpgradeIn<State>) => boolean;
  readonly judge: (upgrade: UpgradeIn<State>, row: InventoryRow, context: RowContext) => RowVerdict;
  /** Its collector is on the upgradable list of its build, or of the control build; absent where that is a row like any other. */
  readonly judgeOffer?: (upgrade: UpgradeIn<State>, row: InventoryRow, context: RowContext) => RowVerdict;
  /** Its collector is not on the list of the control build; absent where that says nothing. */
  readonly judgeUnlisted?: (upgrade: UpgradeIn<State>, context: UnlistedContext) => UnlistedVerdict;
  /** No list is read: whether it has a task that is to be polled now. */
  readonly isTaskPollDue?: (upgrade: UpgradeIn<State>, context: UnlistedContext) => boolean;
}

/**
 * The fact that a row is: `collectorSeen` where it is as good as a poll of the collector, `changeHinted` where the task is
 * to be polled now, `unchanged` where the next poll may wait; `none` changes nothing.
 */
export type RowVerdict = 'collectorSeen' | 'changeHinted' | 'unchanged' | 'none';

export type UnlistedVerdict = Extract<RowVerdict, 'unchanged' | 'none'>;

export interface UnlistedContext {
  readonly at: EpochMs;
  /** From one reading of the list to the next. */
  readonly periodMs: DurationMs;
}

export interface RowContext extends UnlistedContext {
  readonly policy: Policy;
  /** The upgradable list of its build is read, too: that shows the end of its task, and silence need not be polled. */
  readonly isOfferRead: boolean;
  /** Records from before may be undone ones. */
  readonly trustedSince: EpochMs;
}

/** Facts that come too late for a state, or do not fit it: they change nothing. */
export function ignore<Kind extends FactKind>(
  ...kinds: readonly Kind[]
): { readonly [K in Kind]: <Of extends Upgrade>(upgrade: Of) => Of } {
  const same = <Of extends Upgrade>(upgrade: Of) => upgrade;
  return Object.fromEntries(kinds.map((kind) => [kind, same])) as { [K in Kind]: typeof same };
}
