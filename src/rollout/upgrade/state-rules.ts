import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { Policy } from '../model/policy.ts';
import type { Upgrade, UpgradeIn, UpgradeState } from '../model/upgrade.ts';
import type { FactKind, FactOf, InventoryRow } from './facts.ts';
import type { Step } from './step.ts';
import type { EvolveContext } from './transitions.ts';

/** The rules of one state. Each state has a file with its rules, and `evolve.ts` has the table of them. */
export interface StateRules<State extends UpgradeState> {
  /**
   * The next step once the upgrade is due.
   * @param trustedSince observations before this instant are repeated: a create may be missing from the record (P1)
   */
  readonly nextStep: (upgrade: UpgradeIn<State>, now: EpochMs, trustedSince: EpochMs) => Step;
  /** When polls have failed for too long; absent in a state without polls. */
  readonly polls?: PollLimit<State>;
  /** How list rows are used; absent in states that do not use them. */
  readonly rows?: RowRules<State>;
  /** The new record after each fact. A fact that does not fit the state returns the same record. */
  readonly on: { readonly [Kind in FactKind]: Answer<UpgradeIn<State>, Kind> };
}

export type Answer<Of extends Upgrade, Kind extends FactKind> = (
  upgrade: Of,
  fact: FactOf<Kind>,
  context: EvolveContext,
) => Upgrade;

/** When failed polls end an upgrade or release its slot. */
export interface PollLimit<State extends UpgradeState> {
  /** Whether the awaited result is overdue. */
  readonly isTimeUp: (upgrade: UpgradeIn<State>, at: EpochMs, policy: Policy) => boolean;
  /** How long after that polls have to stay unanswered while the service answers other requests. */
  readonly unansweredForMs: DurationMs;
  readonly giveUp: Answer<UpgradeIn<State>, 'pollFailed'>;
}

export interface RowRules<State extends UpgradeState> {
  /** Whether rows replace polls. Such upgrades determine how often pages are read. */
  readonly isWatched: (upgrade: UpgradeIn<State>) => boolean;
  readonly verdictOnRow: (upgrade: UpgradeIn<State>, row: InventoryRow, context: RowContext) => RowVerdict;
  /** For a row of the upgradable list of the target or control build; absent if it means the same as an inventory row. */
  readonly verdictOnOffer?: (upgrade: UpgradeIn<State>, row: InventoryRow, context: RowContext) => RowVerdict;
  /** For a collector that is not on the control build's list; absent if that means nothing. */
  readonly verdictOnUnlisted?: (upgrade: UpgradeIn<State>, context: UnlistedContext) => UnlistedVerdict;
  /** Whether the upgrade's task has to be polled now, if no list is read. */
  readonly isTaskPollDue?: (upgrade: UpgradeIn<State>, context: UnlistedContext) => boolean;
}

/**
 * The fact that follows from a row. `collectorSeen`: the row replaces a poll of the collector. `changeHinted`: the task has
 * to be polled now. `unchanged`: the next poll can wait. `none`: no fact.
 */
export type RowVerdict = 'collectorSeen' | 'changeHinted' | 'unchanged' | 'none';

export type UnlistedVerdict = Extract<RowVerdict, 'unchanged' | 'none'>;

export interface UnlistedContext {
  readonly at: EpochMs;
  /** Time between two readings of the list. */
  readonly periodMs: DurationMs;
}

export interface RowContext extends UnlistedContext {
  readonly policy: Policy;
  /** The upgradable list of the target is read, too. It shows the end of the task, so silence triggers no poll. */
  readonly isOfferRead: boolean;
  /** Records before this instant may have lost changes. */
  readonly trustedSince: EpochMs;
}

/** Rules for facts that do not fit a state or come too late: they change nothing. */
export function ignoreFacts<Kind extends FactKind>(
  ...kinds: readonly Kind[]
): { readonly [K in Kind]: <Of extends Upgrade>(upgrade: Of) => Of } {
  const same = <Of extends Upgrade>(upgrade: Of) => upgrade;
  return Object.fromEntries(kinds.map((kind) => [kind, same])) as { [K in Kind]: typeof same };
}
