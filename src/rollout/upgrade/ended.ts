import { type FailedState, isOnBuild, type Upgrade } from '../model/upgrade.ts';
import { ignore, type StateRules } from './state-rules.ts';
import { type Cause, end, fail, lose, to, withdraw } from './transitions.ts';

/** An end waits for nothing, and no poll or create of it is under way. */
const over = {
  nextStep: () => ({ do: 'rest' }) as const,
  on: {
    ...ignore('admitted', 'putBack', 'claimed', 'withdrawn', 'abandoned'),
    ...ignore('createSent', 'createNotSent', 'created', 'createFailed', 'buildsSeen'),
    ...ignore('taskSeen', 'collectorSeen', 'pollFailed', 'changeHinted', 'unchanged'),
  },
};

const rollBack = (upgrade: Upgrade, { at, reason }: Cause) => end(upgrade, 'rolledBack', at, reason);

/** On the build. While its wave soaks, the collector may still die or leave the build. */
const succeeded: StateRules<'succeeded'> = {
  ...over,
  on: {
    ...over.on,
    departed: withdraw,
    regressed: (upgrade, { at, reason, lost }, { policy }) =>
      lost ? lose(upgrade, { at, reason }, policy) : fail(upgrade, 'unconfirmed', at, reason),
    rolledBack: rollBack,
    ...ignore('retryAsked', 'rejoined'),
  },
};

const failed = {
  ...over,
  on: {
    ...over.on,
    retryAsked: (upgrade, { at, reason }) =>
      to(upgrade, { state: 'retrying', dueAt: at, reason }, { failedPolls: 0 }),
    rolledBack: rollBack,
    ...ignore('departed', 'regressed', 'rejoined'),
  },
} satisfies StateRules<FailedState>;

/** One that someone else upgraded soaks with its wave, and is never a failure of ours. */
const withdrawn: StateRules<'withdrawn'> = {
  ...over,
  on: {
    ...over.on,
    departed: (upgrade, fact) => (isOnBuild(upgrade) ? withdraw(upgrade, fact) : upgrade),
    regressed: (upgrade, { at, reason }) =>
      isOnBuild(upgrade) ? end(upgrade, 'withdrawn', at, { kind: 'onBuild', but: reason }) : upgrade,
    // Whatever the plan's reading showed of it is old by now.
    rejoined: (upgrade, { reason }) => {
      const identity = { ...upgrade.identity, eligibleAt: 0 };
      return to({ ...upgrade, identity }, { state: 'pending', reason }, { failedPolls: 0 });
    },
    ...ignore('retryAsked', 'rolledBack'),
  },
};

const rolledBack: StateRules<'rolledBack'> = {
  ...over,
  on: { ...over.on, ...ignore('departed', 'regressed', 'retryAsked', 'rejoined', 'rolledBack') },
};

export const ended = { succeeded, failed, timedOut: failed, unconfirmed: failed, withdrawn, rolledBack };
