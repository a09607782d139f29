import { isSameBuild } from '../../base/build-version.ts';
import { groupBy } from '../../base/grouping.ts';
import { makeTurnBudget, runInSlices } from '../../base/turn-budget.ts';
import type { Sleep } from '../../base/waiting.ts';
import { countUpgradesIn } from '../../rollout/decision/assess.ts';
import { recheckInventoryMs, rollbackContinuesAt } from '../../rollout/decision/implausible-inventory.ts';
import { rollbackPlannedText } from '../../rollout/messages/event-texts.ts';
import { implausibleText } from '../../rollout/messages/stop-causes.ts';
import { isImplausibleTooLong } from '../../rollout/model/assess-inventory.ts';
import type { FleetCollector, FleetInventory } from '../../rollout/model/collector.ts';
import { type LeftBehind, leftBehind, notRolledBack } from '../../rollout/model/left-behind.ts';
import type { Rollout, RolloutView } from '../../rollout/model/rollout.ts';
import type { RolloutReason } from '../../rollout/model/rollout-reason.ts';
import { endStates, isFailed, mayHaveBuild, type Upgrade } from '../../rollout/model/upgrade.ts';
import { freezeRollback } from '../../rollout/planning/freeze-rollback.ts';
import { isOffered } from '../../rollout/planning/target.ts';
import { describeFailure } from '../../rollout/upgrade/failure-classes.ts';
import type { Build, FleetService } from '../ports/fleet-service.ts';
import type { Fence } from '../ports/leader.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';
import { type ChangeRolloutParts, changeRollout, saveRolloutFact } from '../records/change-rollout.ts';
import { type ChangeUpgradeParts, recordFacts } from '../records/change-upgrade.ts';
import type { PolicyClaims } from '../records/policy-claims.ts';
import {
  listAllUpgrades,
  listUpgradesIn,
  loadRolloutSummary,
  nextRolloutId,
} from '../records/read-records.ts';
import { claimedByOthers } from '../scan/read-plan.ts';
import { judgeInventory } from '../watch/judge-inventory.ts';

export interface RollbackParts extends ChangeRolloutParts, ChangeUpgradeParts {
  readonly sleep: Sleep;
  readonly fleet: FleetService;
  readonly claims: PolicyClaims;
}

/**
 * Starts the rollback of a rollout after all its upgrades have ended: a separate rollout that returns each collector on the
 * build to its previous build, if the service still offers that (DESIGN §4, Rollback). Its id is stored first, so a crash
 * in between neither loses nor duplicates the rollback.
 */
export async function beginRollback(
  parts: RollbackParts,
  view: RolloutView,
  signal: AbortSignal,
): Promise<'done' | 'again'> {
  const { store, clock, fleet } = parts;
  const { rollout } = view;
  const builds = await fleet.listBuilds(signal);
  if (!builds.ok) return failed(parts, rollout, describeFailure(builds.failure));
  const inventory = await fleet.readInventory(null, signal);
  if (!inventory.ok) return failed(parts, rollout, describeFailure(inventory.failure));
  const upgraded = await listUpgradesIn(store, rollout.id, endStates.filter(mayHaveBuild));
  const found = await findUpgraded(parts, rollout, { upgraded, inventory: inventory.value }, signal);
  if (found.kind === 'inconclusive') {
    if (found.isNew) failed(parts, rollout, found.reason);
    return rest(parts, rollout.id, signal);
  }
  const { collectors } = found;
  const groups = groupBy(upgraded.values(), (upgrade) =>
    needOf(upgrade, collectors.get(upgrade.identity.collectorId)),
  );
  const parted = await divideUpgraded(parts, groups.get('runsIt') ?? [], {
    policy: rollout.policy.name,
    builds: builds.value,
  });
  const { toRollBack } = parted;
  const left = [
    ...parted.left,
    ...leftBehind({ kind: 'notSeen' }, groups.get('notSeen') ?? []),
    ...found.left,
  ];
  if (toRollBack.length === 0) {
    await endWithNobody(parts, rollout, left);
    return 'done';
  }
  const named = await nameRollback(parts, rollout, left);
  if (named === undefined) return 'done';
  const { id, original } = named;
  const origin = {
    id,
    startedBy: rollout.id,
    createdAt: clock.now(),
    fleet: inventory.value,
    accountMarks: rollout.accountMarks,
    generation: rollout.config.generation,
  };
  const frozen = await runInSlices(
    freezeRollback(original, { toRollBack, left }, collectors, origin),
    makeTurnBudget(parts.clock),
  );
  const event = {
    at: clock.now(),
    event: 'rollout.planned',
    policy: rollout.policy.name,
    rollout: id,
    reason: rollbackPlannedText(rollout.id, { toRollBack: toRollBack.length, left }),
    by: 'daemon',
  } as const;
  // Another rollback of the policy is active.
  if ((await store.freeze({ ...frozen, events: [event] })) === 'busy') return rest(parts, rollout.id, signal);
  parts.sink.report(event);
  parts.wakeUps.wake();
  return 'done';
}

/** Whether a collector must go back. One that is alive on another build need not, nor one that left the build again. */
function needOf(
  { identity, progress }: Upgrade,
  collector: FleetCollector | undefined,
): 'runsIt' | 'notSeen' | undefined {
  if (collector === undefined) return undefined;
  if (isSameBuild(collector.build, identity.toBuild)) return 'runsIt';
  return isFailed(progress.state) && !collector.alive ? 'notSeen' : undefined;
}

async function endWithNobody(
  parts: RollbackParts,
  { id }: Rollout,
  left: readonly LeftBehind[],
): Promise<void> {
  const reason = { kind: 'nothingRolledBack', left: left.map(({ count, why }) => ({ count, why })) } as const;
  await changeRollout(parts, id, 'daemon', ({ rollout }) =>
    rollout.state === 'rollingBack' ? { kind: 'rolledBack', at: parts.clock.now(), reason, left } : undefined,
  );
}

/** Stores the rollback's id, and returns the rollout at that time; undefined if it is no longer rolling back, or is lost. */
async function nameRollback(
  parts: RollbackParts,
  rollout: Rollout,
  left: readonly LeftBehind[],
): Promise<{ readonly id: string; readonly original: Rollout } | undefined> {
  const { store, clock } = parts;
  const next = rollout.rollback.startedAs ?? (await nextRolloutId(store, rollout.policy.name, clock.now()));
  let id: string | null = null;
  let original = rollout;
  await changeRollout(parts, rollout.id, 'daemon', (current) => {
    original = current.rollout;
    id = current.rollout.rollback.startedAs ?? (current.rollout.state === 'rollingBack' ? next : null);
    if (current.rollout.rollback.startedAs !== null || id === null) return undefined;
    return { kind: 'rollbackNamed', at: clock.now(), rollbackId: id, left };
  });
  return id === null ? undefined : { id, original };
}

/**
 * Marks the collectors that were rolled back, and ends the rollout with a list of the others. Nothing is stored if the
 * rollout has changed since the decision, or another daemon leads. The next decision requests it again then.
 */
export async function endRollback(
  parts: RollbackParts,
  view: RolloutView,
  { reason, fence }: { readonly reason: RolloutReason; readonly fence: Fence },
  signal: AbortSignal,
): Promise<'done' | 'again'> {
  const { rollout, rollback } = view;
  const left = rollback === null ? [] : await markRolledBack(parts, rollout, { rollback, fence }, signal);
  if (signal.aborted) return 'again';
  const fact = { kind: 'rolledBack', at: parts.clock.now(), reason, left } as const;
  await saveRolloutFact(parts, rollout, fact, 'daemon', fence);
  return 'done';
}

/** @returns the collectors that were not rolled back */
async function markRolledBack(
  parts: RollbackParts,
  rollout: Rollout,
  { rollback, fence }: { readonly rollback: Pick<Rollout, 'id'>; readonly fence: Fence },
  signal: AbortSignal,
): Promise<readonly LeftBehind[]> {
  const rolledBack = await listAllUpgrades(parts.store, rollback.id, { state: 'succeeded' });
  const builds = new Map(rolledBack.map(({ identity: { collectorId, toBuild } }) => [collectorId, toBuild]));
  const { upgrades } = await parts.store.loadUpgrades(rollout.id, [...builds.keys()]);
  const at = parts.clock.now();
  const findings = upgrades.map((upgrade) => {
    const build = builds.get(upgrade.identity.collectorId) ?? '';
    const reason = { kind: 'rolledBack', build, rollback: rollback.id } as const;
    return { upgrade, fact: { kind: 'rolledBack', at, reason } as const };
  });
  await recordFacts(parts, rollout, findings, { rolloutRev: rollout.rev, fence }, signal);
  const ended = await loadRolloutSummary(parts, rollback.id, parts.clock.now());
  return ended === undefined ? [] : leftBehindBy(parts.store, ended);
}

type FoundUpgraded =
  | {
      readonly kind: 'found';
      readonly collectors: ReadonlyMap<number, FleetCollector>;
      /** Collectors that no answer contained. */
      readonly left: readonly LeftBehind[];
    }
  /** `isNew`: not yet reported. */
  | { readonly kind: 'inconclusive'; readonly reason: string; readonly isNew: boolean };

// Each poll costs a request. Further collectors are left behind by name.
const pollsMax = 50;

/**
 * Finds the upgraded collectors in the inventory, and polls missing ones by their id. An implausible inventory is not
 * used, because the rollback would end without any collector (P14). A rollback cannot be held: after a while it continues
 * with the collectors that were found, and names the others.
 */
async function findUpgraded(
  parts: RollbackParts,
  rollout: Rollout,
  found: { readonly upgraded: ReadonlyMap<number, Upgrade>; readonly inventory: FleetInventory },
  signal: AbortSignal,
): Promise<FoundUpgraded> {
  const collectors = new Map(found.inventory.collectors.map((collector) => [collector.id, collector]));
  const missing = [...found.upgraded.values()].filter(
    ({ identity: { collectorId } }) => !collectors.has(collectorId),
  );
  if (found.upgraded.size === 0) return { kind: 'found', collectors, left: [] };
  const verdict = await judgeInventory(parts, rollout, found.inventory);
  if (verdict.kind === 'implausible') {
    const implausible = (await parts.store.loadRollout(rollout.id))?.inventory.implausible ?? null;
    const isOver = implausible !== null && isImplausibleTooLong(implausible, parts.clock.now());
    if (verdict.why.kind === 'empty' || !isOver)
      return {
        kind: 'inconclusive',
        reason: implausibleText(verdict.why),
        isNew: rollout.inventory.implausible?.why.kind !== verdict.why.kind,
      };
  }
  const unknown: Upgrade[] = [];
  for (const upgrade of missing.slice(0, pollsMax)) {
    const answer = await parts.fleet.findCollector(String(upgrade.identity.collectorId), signal);
    if (!answer.ok) return { kind: 'inconclusive', reason: describeFailure(answer.failure), isNew: true };
    if (answer.value === undefined) unknown.push(upgrade);
    else collectors.set(upgrade.identity.collectorId, answer.value);
  }
  return {
    kind: 'found',
    collectors,
    left: [
      ...leftBehind({ kind: 'unknown' }, unknown),
      ...leftBehind({ kind: 'notListed' }, missing.slice(pollsMax)),
    ],
  };
}

/** The next try reads the whole inventory again, which costs 100 requests for 100,000 collectors (P8). */
async function rest(parts: RollbackParts, rolloutId: string, signal: AbortSignal): Promise<'done'> {
  const rollout = await parts.store.loadRollout(rolloutId);
  const now = parts.clock.now();
  if (rollout === undefined) return 'done';
  const { implausible } = rollout.inventory;
  const continuesInMs = implausible === null ? null : (rollbackContinuesAt(implausible) ?? now) - now;
  const recheckMs = recheckInventoryMs(rollout, now);
  const isSooner = continuesInMs !== null && continuesInMs > 0 && continuesInMs < recheckMs;
  await parts.sleep(isSooner ? continuesInMs : recheckMs, signal);
  return 'done';
}

function failed(parts: RollbackParts, rollout: Rollout, detail: string): 'again' {
  const reason = `the rollback could not be planned: ${detail}`;
  parts.sink.note({ event: 'poll.failed', rollout: rollout.id, reason });
  return 'again';
}

/**
 * Divides upgraded collectors into those that can be rolled back and those that cannot, with the reasons. The preview of a
 * rollback and its plan both use it.
 * @param context the policy that upgraded them, and the offered builds
 */
export async function divideUpgraded(
  parts: Pick<RollbackParts, 'store' | 'register' | 'claims'>,
  upgrades: readonly Upgrade[],
  { policy, builds }: { readonly policy: string; readonly builds: readonly Build[] },
): Promise<{ readonly toRollBack: readonly Upgrade[]; readonly left: readonly LeftBehind[] }> {
  const ids = upgrades.map(({ identity: { collectorId } }) => collectorId);
  const { claimed } = await claimedByOthers(parts, policy, ids);
  const held = new Set((await parts.register.holdsOf(ids)).map(({ collectorId }) => collectorId));
  const staying = ({ identity: { fromBuild, collectorId } }: Upgrade) => {
    if (!isOffered(fromBuild, builds)) return 'buildNotOffered';
    if (claimed.has(collectorId)) return 'claimed';
    return held.has(collectorId) ? 'held' : undefined;
  };
  const groups = groupBy(upgrades, staying);
  const left = [...groups].flatMap(([why, some]) =>
    why === undefined ? [] : leftBehind({ kind: why }, some),
  );
  return { toRollBack: groups.get(undefined) ?? [], left };
}

/** Collectors that an ended rollback left behind: those its plan left out, and those that ended without success. */
async function leftBehindBy(
  store: RolloutStore,
  counted: Pick<RolloutView, 'rollout' | 'waves'>,
): Promise<readonly LeftBehind[]> {
  const { rollout } = counted;
  const [failed, withdrawn] = await Promise.all(
    (['failed', 'withdrawn'] as const).map((kind) => store.listMissed(rollout.id, { kind, limit: 3 })),
  );
  return [
    ...rollout.rollback.leftBehind,
    ...notRolledBack(
      { kind: 'failed', rollback: rollout.id },
      countUpgradesIn(counted, isFailed),
      failed ?? [],
    ),
    ...notRolledBack(
      { kind: 'withdrawn', rollback: rollout.id },
      countUpgradesIn(counted, (state) => state === 'withdrawn'),
      withdrawn ?? [],
    ),
  ];
}
