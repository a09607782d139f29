import { isSameBuild } from '../base/build-version.ts';
import type { EpochMs } from '../base/time.ts';
import { withPresentCaps } from '../rollout/present-brakes.ts';
import type { RolloutView } from '../rollout/rollout.ts';
import { awaitsDeferredAlone, deferredSeenMax } from '../rollout/wave-evidence.ts';
import type { Accounts } from './accounts.ts';
import type { FleetRegister } from './ports/fleet-register.ts';
import type { RolloutStore } from './ports/rollout-store.ts';

export interface ViewParts {
  readonly store: RolloutStore;
  readonly register: FleetRegister;
  /** Every rollout is ours, where left out. */
  readonly accounts?: Pick<Accounts, 'standingOf'>;
}

/** Reads all that `decide` sees of a rollout; undefined when there is none. */
export async function loadRolloutView(
  { store, register, accounts }: ViewParts,
  rolloutId: string,
  at: { readonly now: EpochMs; readonly overdueBefore: EpochMs; readonly pageSize: number },
): Promise<RolloutView | undefined> {
  const stored = await store.loadView(rolloutId, at);
  if (stored === undefined) return undefined;
  const { kind, targetBuild, rollbackId, endedAt } = stored.rollout;
  // What was held while it was on its way does not matter once it is over; a rollback goes to builds that were fine.
  const builds = endedAt === null && kind === 'upgrade' ? await register.heldBuilds() : [];
  const rollback = rollbackId === null ? undefined : await store.loadRollout(rollbackId);
  const view = {
    ...stored,
    groups: withPresentCaps(stored.groups, stored.rollout.policy),
    buildHold: builds.find(({ build }) => isSameBuild(build, targetBuild)) ?? null,
    rollback: rollback ?? null,
    ...(accounts === undefined ? {} : { account: await accounts.standingOf(stored.rollout) }),
  };
  if (!awaitsDeferredAlone(view)) return view;
  const due = await store.listDue(rolloutId, deferredSeenMax);
  return { ...view, deferred: due.filter((upgrade) => upgrade.state === 'deferred') };
}

/** The same for a change or a status, which need no candidates and no overdue steps. */
export function loadRolloutSummary(parts: ViewParts, rolloutId: string, now: EpochMs) {
  return loadRolloutView(parts, rolloutId, { now, overdueBefore: 0, pageSize: 1 });
}
