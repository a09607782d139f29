import { type FailedState, isOnBuild, type Upgrade } from '../model/upgrade.ts';
import { ignoreFacts, type StateRules } from './state-rules.ts';
import {
  type Cause,
  endUpgrade,
  enterState,
  failAsLost,
  failUpgrade,
  withdrawUpgrade,
} from './transitions.ts';

/** Rules of all end states: no poll or create is under way. */
const over = {
  nextStep: () => ({ do: 'rest' }) as const,
  on: {
    ...ignoreFacts('admitted', 'putBack', 'claimed', 'withdrawn', 'abandoned'),
    ...ignoreFacts('createSent', 'createNotSent', 'created', 'createFailed', 'buildsSeen'),
    ...ignoreFacts('taskSeen', 'collectorSeen', 'pollFailed', 'changeHinted', 'unchanged'),
  },
};

const rollBack = (upgrade: Upgrade, { at, reason }: Cause) => endUpgrade(upgrade, 'rolledBack', at, reason);

/** While the wave soaks, the collector may still go down or leave the build. */
const succeeded: StateRules<'succeeded'> = {
  ...over,
  on: {
    ...over.on,
    departed: withdrawUpgrade,
    regressed: (upgrade, { at, reason, lost }, { policy }) =>
      lost ? failAsLost(upgrade, { at, reason }, policy) : failUpgrade(upgrade, 'unconfirmed', at, reason),
    rolledBack: rollBack,
    ...ignoreFacts('retryAsked', 'rejoined'),
  },
};

const failed = {
  ...over,
  on: {
    ...over.on,
    retryAsked: (upgrade, { at, reason }) =>
      enterState(upgrade, { state: 'retrying', dueAt: at, reason }, { failedPolls: 0 }),
    rolledBack: rollBack,
    ...ignoreFacts('departed', 'regressed', 'rejoined'),
  },
} satisfies StateRules<FailedState>;

/** A collector that someone else upgraded soaks with its wave, but never counts as a failure. */
const withdrawn: StateRules<'withdrawn'> = {
  ...over,
  on: {
    ...over.on,
    departed: (upgrade, fact) => (isOnBuild(upgrade) ? withdrawUpgrade(upgrade, fact) : upgrade),
    regressed: (upgrade, { at, reason }) =>
      isOnBuild(upgrade) ? endUpgrade(upgrade, 'withdrawn', at, { kind: 'onBuild', but: reason }) : upgrade,
    // The plan's reading of the collector is outdated.
    rejoined: (upgrade, { reason }) => {
      const identity = { ...upgrade.identity, eligibleAt: 0 };
      return enterState({ ...upgrade, identity }, { state: 'pending', reason }, { failedPolls: 0 });
    },
    ...ignoreFacts('retryAsked', 'rolledBack'),
  },
};

const rolledBack: StateRules<'rolledBack'> = {
  ...over,
  on: { ...over.on, ...ignoreFacts('departed', 'regressed', 'retryAsked', 'rejoined', 'rolledBack') },
};

export const ended = { succeeded, failed, timedOut: failed, unconfirmed: failed, withdrawn, rolledBack };
