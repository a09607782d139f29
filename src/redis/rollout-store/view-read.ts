import { keepLatest } from '../../base/keep-latest.ts';
import type { RolloutStore } from '../../orchestrator/ports/rollout-store.ts';
import { noGroups, type PlanGroups } from '../../rollout/model/plan-groups.ts';
import { isRolloutId } from '../../rollout/model/rollout-id.ts';
import { runScript } from '../connection/script.ts';
import { decodeGroups } from '../schema/stored-rollout.ts';
import { findUnreadable } from './find-unreadable.ts';
import { readRollout } from './kept-rollouts.ts';
import { viewScript } from './scripts.ts';
import type { StoreContext } from './store-context.ts';
import { decodeView, viewBounds } from './view.ts';

// A few policies, each with a rollout and a rollback. A further one costs a read.
const rolloutsKeptMax = 8;

/** Reads the view that `decide` needs. Groups are sent only when they have changed since the last view. */
export function makeViewRead(store: StoreContext): Pick<RolloutStore, 'loadView'> {
  const { commands, broken, ofRollout, readable } = store;
  /** Known groups, with the mark of their write: thousands of lanes are hundreds of KB. */
  const knownGroups = new Map<string, { readonly mark: string; readonly groups: PlanGroups }>();
  return {
    loadView: async (rolloutId, at) => {
      if (!isRolloutId(rolloutId)) return undefined;
      const known = knownGroups.get(rolloutId);
      const { now, overdueBefore, pageSize } = at;
      const reply = await runScript(commands, viewScript, {
        keys: ofRollout(rolloutId).keys,
        args: { now, overdueBefore, pageSize, knownMark: known?.mark ?? '', ...viewBounds },
      });
      if (reply === null) return undefined;
      const rollout = await readRollout(store, rolloutId, reply.stored);
      if (rollout === undefined) return undefined;
      const isKnown = known !== undefined && known.mark === reply.groupsMark;
      const groups = isKnown ? known.groups : broken.read(() => decodeGroups(reply.groups, rolloutId));
      if (groups !== undefined)
        keepLatest(knownGroups, rolloutId, { mark: reply.groupsMark, groups }, rolloutsKeptMax);
      const view = decodeView(reply, rollout, groups ?? noGroups);
      const found = { areGroupsUnreadable: groups === undefined, overdue: view.overdue };
      const unreadableRecords = await findUnreadable(commands, readable(rolloutId), found);
      return { ...view, ...(unreadableRecords && { unreadableRecords }) };
    },
  };
}
