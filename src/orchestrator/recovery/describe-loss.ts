import { someNames } from '../../base/names.ts';
import type { Standstill } from '../../rollout/decision/after-data-loss.ts';
import { isRolloutEnd, type Rollout } from '../../rollout/model/rollout.ts';
import type { FleetRegister } from '../ports/fleet-register.ts';

/** What of the store is another one now. */
export interface Loss {
  readonly holds: boolean;
  readonly policies: readonly string[];
  /** Nothing that is known is left. */
  readonly isAll: boolean;
}

/** What was lost with a Redis that was emptied, what was put back, and what a person has to do, in one sentence. */
export function lossWords(
  rollouts: readonly Rollout[],
  of: {
    readonly loss: Loss;
    readonly holds: Awaited<ReturnType<FleetRegister['holds']>>;
    readonly still: ReadonlyArray<{ readonly id: string; readonly standstill: Standstill }>;
  },
): string {
  const { loss, still } = of;
  const { builds, collectors } = of.holds;
  const open = rollouts
    .filter(({ state }) => !isRolloutEnd(state))
    .map(({ id, state }) => `${id} (${state})`);
  const held = [
    ...builds.map(({ build }) => `build ${build}`),
    ...collectors.map(({ collectorId }) => `collector ${collectorId}`),
  ];
  return [
    goneWords(loss),
    ...(loss.policies.length === 0
      ? []
      : [open.length === 0 ? 'no rollout was on its way' : `on their way were ${someNames(open)}`]),
    ...(loss.holds
      ? [held.length === 0 ? 'nothing is known that was held' : `held again: ${someNames(held)}`]
      : []),
    ...(still.length === 0
      ? []
      : [
          `not begun again until somebody runs \`upwave start\`: ${someNames(still.map(({ id, standstill }) => `${id} ${standstill.words}`))}`,
        ]),
    'the rest is planned anew from what the service shows',
  ].join('; ');
}

function goneWords({ holds, policies, isAll }: Loss): string {
  if (isAll) return 'what was kept there is gone: all records and their history';
  const what = [
    ...(holds ? ['what was held, and the audit'] : []),
    ...(policies.length === 0 ? [] : [`the records and the history of ${someNames(policies)}`]),
  ];
  return `a part of what was kept there is gone: ${what.join('; ')}`;
}
