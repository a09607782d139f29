import type { PlanGroups } from '../rollout/plan-groups.ts';
import type { Rollout } from '../rollout/rollout.ts';

/**
 * What stands beside `json` in a rollout's hash for scripts to read, names and values in turn. `write` is the mark of
 * the last save. The scripts themselves keep `brake`, `ended`, and `frozen`, the mark of the freeze.
 */
export function rolloutFields(rollout: Rollout, write: string): readonly string[] {
  return [
    ...['state', rollout.state],
    ...['rev', String(rollout.rev)],
    ...['frontier', String(frontierOf(rollout))],
    ...['write', write],
  ];
}

/** The same for a write that brings groups: how many lanes there are, and by which mark the groups are known. */
export function plannedFields(rollout: Rollout, groups: PlanGroups, write: string): readonly string[] {
  return [
    ...rolloutFields(rollout, write),
    ...['lanes', String(groups.lanes.length)],
    ...['groupsMark', write],
  ];
}

/** The last wave that has begun: candidates are taken up to it (P3). -1: none has. */
function frontierOf({ waves }: Rollout): number {
  return waves.findLastIndex(({ state }) => state !== 'waiting' && state !== 'awaitingApproval');
}
