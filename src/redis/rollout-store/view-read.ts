import { keepLatest } from '../../base/keep-latest.ts';
import type { RolloutStore } from '../../orchestrator/ports/rollout-store.ts';
import { noGroups, type PlanGroups } from '../../rollout/model/plan-groups.ts';
import type { Candidate, StoredView } from '../../rollout/model/rollout.ts';
import { isRolloutId } from '../../rollout/model/rollout-id.ts';
import { runScript } from '../connection/script.ts';
import { decodeGroups } from '../schema/stored-rollout.ts';
import { upgradeName } from '../schema/stored-upgrade.ts';
import { readRollout } from './kept-rollouts.ts';
import { listCorrupt } from './repair-upgrades.ts';
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
  /** Removes corrupt candidates, which would block those behind them again and again. */
  const withoutCorrupt = async (view: StoredView): Promise<StoredView> => {
    // The usual case, in which no lookup is needed.
    if (broken.isEmpty()) return view;
    const { id } = view.rollout;
    const canBeRead = ({ collectorId }: Candidate) => !broken.isKnown(upgradeName(id, collectorId));
    const corruptUpgrades = await listCorrupt(commands, readable(id));
    return {
      ...view,
      ...(corruptUpgrades.length === 0 ? {} : { corruptUpgrades }),
      candidates: view.candidates.map(({ lane, retries, pending }) => ({
        lane,
        retries: retries.filter(canBeRead),
        pending: pending.filter(canBeRead),
      })),
    };
  };

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
      if (groups === undefined)
        return { ...(await withoutCorrupt(decodeView(reply, rollout, noGroups))), groupsUnreadable: true };
      keepLatest(knownGroups, rolloutId, { mark: reply.groupsMark, groups }, rolloutsKeptMax);
      return withoutCorrupt(decodeView(reply, rollout, groups));
    },
  };
}
