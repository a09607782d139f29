import { isSameBuild } from '../../base/build-version.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { GroupHold } from '../../contract/admin/holds.ts';
import { awaitsDeferredAlone, deferredSeenMax } from '../../rollout/decision/wave-blockers.ts';
import type { CreatesWait, Rollout, RolloutView } from '../../rollout/model/rollout.ts';
import { isIn, isOnBuild, type Upgrade, type UpgradeState } from '../../rollout/model/upgrade.ts';
import { withCurrentCaps } from '../../rollout/reload/follow-config.ts';
import type { CauseUpgrades } from '../../rollout/status/causes.ts';
import type { Accounts } from '../ports/accounts.ts';
import type { FleetRegister, Holds } from '../ports/fleet-register.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';
import type { SharedAttributes } from './shared-attributes.ts';

export interface ViewParts {
  readonly store: RolloutStore;
  readonly register: FleetRegister;
  readonly accounts: Pick<Accounts, 'statusOf'>;
  /** Why no create leaves after an outage of the store; undefined: they leave. */
  readonly createsWait: () => CreatesWait | undefined;
}

/** What finds the shared attribute of a rollout's failures. */
export interface SharedAttributeParts {
  readonly store: RolloutStore;
  readonly sharedAttributes: SharedAttributes;
}

/** Reads the view of a rollout for `decide`; undefined if there is no such rollout. */
export async function loadRolloutView(
  { store, register, accounts, createsWait }: ViewParts,
  rolloutId: string,
  at: { readonly now: EpochMs; readonly overdueBefore: EpochMs; readonly pageSize: number },
): Promise<RolloutView | undefined> {
  const [stored, holds] = await Promise.all([store.loadView(rolloutId, at), register.holds()]);
  if (stored === undefined) return undefined;
  const { kind, endedAt, plan } = stored.rollout;
  const missedGroups = endedAt === null && kind === 'upgrade' ? missedIn(stored.rollout, holds) : [];
  const { startedAs } = stored.rollout.rollback;
  // Holds do not matter for an ended rollout, nor for a rollback, which returns to earlier builds.
  const builds = endedAt === null && kind === 'upgrade' ? holds.builds : [];
  const rollback = startedAs === null ? undefined : await store.loadRollout(startedAs);
  const wait = createsWait();
  const view = {
    ...stored,
    ...(wait === undefined ? {} : { createsWait: wait }),
    groups: withCurrentCaps(stored.groups, stored.rollout.policy),
    buildHold: builds.find(({ build }) => isSameBuild(build, plan.targetBuild)) ?? null,
    rollback: rollback ?? null,
    ...(missedGroups.length === 0 ? {} : { missedGroups }),
    ...(stored.rollout.unreadable?.kind === 'newer'
      ? {}
      : { account: await accounts.statusOf(stored.rollout) }),
  };
  if (!awaitsDeferredAlone(view)) return view;
  const due = await store.listDue(rolloutId, deferredSeenMax);
  return { ...view, deferred: due.filter((upgrade) => isIn(upgrade, 'deferred')) };
}

// Longer than a plan is made after its holds were read.
const plannedWithinMs: DurationMs = 120_000;

/** Groups that were held after the plan had read the holds, by an operator who saw no rollout yet. */
function missedIn({ createdAt, strata }: Rollout, { groups }: Holds): readonly GroupHold[] {
  const held = new Set([...strata.held.map(({ label }) => label), ...(strata.emptyGroups ?? [])]);
  return groups.filter(({ label, at }) => at >= createdAt - plannedWithinMs && !held.has(label));
}

/** Adds the shared attribute of the failures to a view. */
export async function withSharedAttribute(
  { store, sharedAttributes }: SharedAttributeParts,
  view: RolloutView,
): Promise<RolloutView> {
  const sharedAttribute = await sharedAttributes.of(store, view);
  return sharedAttribute === undefined ? view : { ...view, sharedAttribute };
}

/** Adds what people see: the shared attribute of the failures, or of one cause where the failures together show none yet. */
export async function withShownAttribute(
  parts: SharedAttributeParts,
  view: RolloutView,
  causes: CauseUpgrades,
): Promise<RolloutView> {
  const weighed = await withSharedAttribute(parts, view);
  if (weighed.sharedAttribute !== undefined) return weighed;
  const sharedAttribute = await parts.sharedAttributes.ofCauses(parts.store, view, causes);
  return sharedAttribute === undefined ? view : { ...view, sharedAttribute };
}

/** Reads a view for a change or a status, without lists of candidates and overdue steps. */
export function loadRolloutSummary(parts: ViewParts, rolloutId: string, now: EpochMs) {
  return loadRolloutView(parts, rolloutId, { now, overdueBefore: 0, pageSize: 1 });
}

/**
 * All records of a state, optionally of one wave. It is one page, because each page walks through the plan, and a record
 * that leaves the state between two pages would shift another one past both.
 */
export function listAllUpgrades(
  store: Pick<RolloutStore, 'listUpgrades'>,
  rolloutId: string,
  filter: { readonly state: UpgradeState; readonly wave?: number },
): Promise<readonly Upgrade[]> {
  return store.listUpgrades(rolloutId, { offset: 0, limit: Number.MAX_SAFE_INTEGER, ...filter });
}

/** All records of these states, by id. A record that changes its state between two readings counts as it was read last. */
export async function listUpgradesIn(
  store: Pick<RolloutStore, 'listUpgrades'>,
  rolloutId: string,
  states: readonly UpgradeState[],
): Promise<ReadonlyMap<number, Upgrade>> {
  const found = new Map<number, Upgrade>();
  for (const state of states) {
    for (const upgrade of await listAllUpgrades(store, rolloutId, { state }))
      found.set(upgrade.identity.collectorId, upgrade);
  }
  return found;
}

/** The collectors that a soak observes: the upgraded ones of the wave, including those that someone else upgraded. */
export async function listSoaking(
  store: Pick<RolloutStore, 'listUpgrades'>,
  view: Pick<RolloutView, 'rollout' | 'waves'>,
  wave: number,
): Promise<readonly Upgrade[]> {
  const { id } = view.rollout;
  const succeeded = await listAllUpgrades(store, id, { state: 'succeeded', wave });
  if ((view.waves[wave]?.onBuild ?? 0) === 0) return succeeded;
  const withdrawn = await listAllUpgrades(store, id, { state: 'withdrawn', wave });
  return [...succeeded, ...withdrawn.filter(isOnBuild)];
}

/** The next free `<policy>-<UTC yyyymmdd>-<n>` (DESIGN §1). */
export async function nextRolloutId(store: RolloutStore, policy: string, at: EpochMs): Promise<string> {
  const yyyymmdd = new Date(at).toISOString().slice(0, 10).replaceAll('-', '');
  return `${policy}-${yyyymmdd}-${await store.nextRolloutNumber(policy, yyyymmdd)}`;
}
