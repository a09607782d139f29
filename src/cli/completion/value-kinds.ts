import { auditEvents, upgradeFailureClasses } from '../../base/vocabulary.ts';
import { upgradeStates } from '../../rollout/model/upgrade.ts';

export interface Offer {
  readonly name: string;
  /** Empty: none. */
  readonly help: string;
}

/** Values that only a running daemon knows. */
export type ValueKind =
  | 'policies'
  /** Policies, then the ids of rollouts. */
  | 'rollouts'
  | 'rolloutIds'
  | 'strata'
  | 'waves'
  | 'builds'
  /** Numbers of the current holds and pauses. */
  | 'holdNumbers'
  | 'collectors'
  /** Builds, strata and collectors. */
  | 'holdable'
  | 'held';

export interface AskedValues {
  readonly kind: ValueKind;
  /** The rollout that was typed, by its id or its policy. */
  readonly rollout: string | undefined;
  /** The beginning of the value. */
  readonly typed: string;
  readonly url: string | undefined;
  readonly config: string | undefined;
}

export type ReadValues = (asked: AskedValues) => Promise<readonly Offer[]>;

/** By the flags of an option. */
export const fixedValues: Readonly<Record<string, readonly string[]>> = {
  '--state <states>': upgradeStates,
  '--cause <words>': upgradeFailureClasses,
  '--type <verb>': auditEvents,
};

/** By the flags of an option, by the name of an argument, or by a command and the name of its argument. */
export const valueKinds: Readonly<Record<string, ValueKind>> = {
  policy: 'policies',
  rollout: 'rollouts',
  'policy|rollout': 'rollouts',
  'explain collector': 'collectors',
  'hold what': 'holdable',
  'release what': 'held',
  '--policy <name>': 'policies',
  '--before <rollout>': 'rolloutIds',
  '--stratum <label>': 'strata',
  '--wave <name>': 'waves',
  '--build <build>': 'builds',
  '--hold <number>': 'holdNumbers',
};
