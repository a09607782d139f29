import { countUpgradesIn } from '../../rollout/decision/assess.ts';
import type { RolloutView } from '../../rollout/model/rollout.ts';
import { isRunning, type Upgrade } from '../../rollout/model/upgrade.ts';
import {
  type CauseGroupName,
  type CauseUpgrades,
  causesReadMax,
  countOfGroup,
} from '../../rollout/status/causes.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';

// Deferred upgrades are indexed together with those in flight, which may be thousands.
const dueReadMax = 1_000;

/** Loads some of the upgrades with problems. Groups that are empty by their counters are not read. */
export async function loadCauses(
  { store }: { readonly store: RolloutStore },
  view: RolloutView,
): Promise<CauseUpgrades> {
  const { id } = view.rollout;
  const limit = causesReadMax;
  const read = (group: CauseGroupName, list: () => Promise<readonly Upgrade[]>) =>
    countOfGroup(view, group) === 0 ? [] : list();
  const running = countUpgradesIn(view, isRunning);
  // While nothing has failed or is retried, few of those in flight can have failed before.
  const hasFailures = countOfGroup(view, 'failed') + countOfGroup(view, 'retrying') > 0;
  const hasDeferred = countOfGroup(view, 'deferred') > 0;
  // Few running upgrades decide when the rollout ends, by how long they have run.
  const isEndNear = running > 0 && running <= limit;
  const dueMax = hasDeferred ? Math.min(dueReadMax, limit + running) : limit;
  const [failed, retrying, due, withdrawn] = await Promise.all([
    read('failed', () => store.listMissed(id, { kind: 'failed', limit })),
    read('retrying', () => store.listMissed(id, { kind: 'retrying', limit })),
    hasFailures || hasDeferred || isEndNear ? store.listDue(id, dueMax) : [],
    read('withdrawn', () => store.listMissed(id, { kind: 'withdrawn', limit })),
  ]);
  const deferred = due.filter(({ progress: { state } }) => state === 'deferred').slice(0, limit);
  const inFlight = hasFailures || isEndNear ? due.filter(({ progress: { state } }) => isRunning(state)) : [];
  return { failed, retrying, deferred, withdrawn, inFlight };
}
