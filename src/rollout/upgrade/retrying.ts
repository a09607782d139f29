import { ignore, type StateRules } from './state-rules.ts';
import { takeTurn, withdraw } from './transitions.ts';

/** Waits without a slot for an instant; from then on the reconciler may admit it again. */
export const retrying: StateRules<'retrying'> = {
  nextStep: () => ({ do: 'rest' }),
  on: {
    // Its collector has been through something since it was last polled, so it is polled again (P1).
    admitted: (upgrade, fact) => takeTurn(upgrade, fact, { dueAt: fact.at, freshAt: 0 }),
    withdrawn: withdraw,
    abandoned: withdraw,
    ...ignore('putBack', 'claimed'),
    ...ignore('createSent', 'createNotSent', 'created', 'createFailed', 'buildsSeen'),
    ...ignore('taskSeen', 'collectorSeen', 'pollFailed', 'changeHinted', 'unchanged'),
    ...ignore('departed', 'regressed', 'retryAsked', 'rejoined', 'rolledBack'),
  },
};
