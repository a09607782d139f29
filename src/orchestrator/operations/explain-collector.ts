import { begunNames, nearestNames } from '../../base/names.ts';
import type { Explanation, SeenCollector } from '../../contract/admin/collector-explanation.ts';
import { type Attribute, areAmong, attributesOf } from '../../rollout/model/attributes.ts';
import type { FleetCollector } from '../../rollout/model/collector.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import type { Rollout, RolloutView } from '../../rollout/model/rollout.ts';
import { isFailed, type Upgrade } from '../../rollout/model/upgrade.ts';
import { makeFormerStratum } from '../../rollout/planning/former-stratum.ts';
import { attemptsOf } from '../../rollout/status/attempt-status.ts';
import { explainUnreadable, explainUpgrade, explainWithdrawnByHold } from '../../rollout/status/explain.ts';
import type { BuildHistory } from '../ports/build-history.ts';
import type { FleetService } from '../ports/fleet-service.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';
import type { ScanForecast } from '../ports/scan-book.ts';
import { loadCauses } from '../records/load-causes.ts';
import { loadRolloutSummary, type ViewParts, withShownAttribute } from '../records/read-records.ts';
import type { SharedAttributes } from '../records/shared-attributes.ts';
import { acceptsLateJoiners } from '../scan/late-joiners.ts';
import { type Asking, explainOutside, type Found } from './explain-outside.ts';
import {
  type AskForCollectorParts,
  answerWithinMs,
  askForCollector,
  type FindPlannedParts,
  findHeld,
  findLongOutage,
  findPlannedCollector,
  namesNear,
} from './find-planned-collector.ts';
import type { ExplainResult } from './operations.ts';
import { findPast, type KeptRecord, loadRecords, pastUpgrade } from './past-upgrades.ts';

export interface ExplainParts extends FindPlannedParts, AskForCollectorParts, ViewParts {
  readonly store: RolloutStore;
  readonly fleet: Pick<FleetService, 'findCollector' | 'readInventory' | 'listBuilds'>;
  /** The policies of the current config. */
  readonly rollouts: () => readonly Policy[];
  readonly forecast: ScanForecast;
  readonly sharedAttributes: SharedAttributes;
  readonly buildHistory: Pick<BuildHistory, 'read'>;
}

/** Why a collector is not upgraded now, and when it will be: for each policy, from its running rollout or its next plan. */
export async function explainCollector(parts: ExplainParts, idOrName: string): Promise<ExplainResult> {
  const planned = await explainPlanned(parts, idOrName);
  if (planned !== undefined) return planned;
  const asked = await askForCollector(parts, idOrName);
  if (asked.kind === 'unavailable') {
    const kept = await findKept(parts, idOrName);
    return kept === undefined ? asked : explainFound(parts, { ...kept, build: '', ask: async () => asked });
  }
  if (asked.kind === 'none')
    return { kind: 'unknownCollector', nearest: await nearestCollectors(parts, idOrName) };
  const { id, name, build } = asked.collector;
  return explainFound(parts, { id, name, build, ask: async () => asked });
}

/** What Redis knows of a collector that no running rollout has: from ended rollouts, else from its hold. */
async function findKept(
  parts: ExplainParts,
  idOrName: string,
): Promise<Pick<Found, 'id' | 'name'> | undefined> {
  const policies = parts.rollouts().map(({ name }) => name);
  const past = await findPast(parts, policies, idOrName);
  if (past !== undefined) return { id: past.identity.collectorId, name: past.identity.collectorName };
  const held = await findHeld(parts, idOrName);
  return held && { id: held.collectorId, name: held.name ?? String(held.collectorId) };
}

/** Explains a collector of a running rollout; undefined if no running rollout has it. */
export async function explainPlanned(
  parts: ExplainParts,
  idOrName: string,
): Promise<ExplainResult | undefined> {
  const planned = await findPlannedCollector(parts, idOrName);
  if (planned === undefined) return undefined;
  const {
    identity: { collectorId: id, collectorName: name },
    progress: { state },
  } = planned;
  const build = state === 'succeeded' ? planned.identity.toBuild : planned.identity.fromBuild;
  // A planned collector is also explained without an answer of the service.
  return explainFound(parts, { id, name, build, ask: once(() => askForCollector(parts, String(id))) });
}

/**
 * Searches the plans first. A collector without a plan, such as an excluded one, is in the inventory, which has a page for
 * each 1,000 collectors.
 */
async function nearestCollectors(parts: ExplainParts, text: string): Promise<readonly string[]> {
  const near = await namesNear(parts, text);
  if (begunNames(text, near).length > 0 || (await findLongOutage(parts)) !== undefined) return near;
  const inventory = await parts.fleet.readInventory(null, AbortSignal.timeout(answerWithinMs));
  const names = inventory.ok ? inventory.value.collectors.map(({ name }) => name) : [];
  return nearestNames(text, [...near, ...names]);
}

async function explainFound(parts: ExplainParts, found: Found): Promise<ExplainResult> {
  const { id, name } = found;
  const builds = once(async () => {
    if ((await findLongOutage(parts)) !== undefined) return null;
    const answer = await parts.fleet.listBuilds();
    return answer.ok ? answer.value : null;
  });
  // In parallel, like all reads below, because a person waits for them.
  const [asked, byPolicy] = await Promise.all([
    found.ask(),
    Promise.all(
      parts.rollouts().map(async (policy) => {
        const [records, active] = await Promise.all([
          loadRecords(parts, policy.name, id),
          findActive(parts, policy.name, id),
        ]);
        const known = { asking: { ...found, builds }, records, found: active };
        return { explanation: await explainFor(parts, policy, known), records };
      }),
    ),
  ]);
  // Policies that select it come first: most policies of a large config concern other collectors.
  const explanations = byPolicy
    .map(({ explanation }) => explanation)
    .toSorted((a, b) => Number(isUnselected(a)) - Number(isUnselected(b)));
  const history = byPolicy.flatMap(({ records, explanation }) =>
    records.flatMap((record) => pastUpgrade(record, explanation.rollout)),
  );
  history.sort((one, other) => (other.at ?? 0) - (one.at ?? 0));
  const planned = await readAttributes(
    parts,
    found,
    byPolicy.flatMap(({ records }) => records),
  );
  const now = asked.kind === 'found' ? asked.collector.build : found.build;
  // The build that it had when it was planned would contradict the one that it runs.
  const attributes = planned.filter(({ key, value }) => key !== 'collectorVersion' || value === now);
  return {
    kind: 'explained',
    collectorId: id,
    collectorName: name,
    build: now,
    seen: asked.kind === 'found' ? seenOf(asked.collector) : null,
    attributes,
    explanations,
    history,
  };
}

function isUnselected({ kind }: Explanation): boolean {
  return kind === 'notSelected' || kind === 'excluded' || kind === 'notInShare';
}

function seenOf({ hostName, alive, lastSeenAlive }: FleetCollector): SeenCollector {
  return { hostName, alive, lastSeenAt: lastSeenAlive ?? null };
}

/** As when a running rollout planned it; else as the service shows them. */
async function readAttributes(
  { store, sharedAttributes }: ExplainParts,
  { id, ask }: Found,
  records: readonly KeptRecord[],
): Promise<readonly Attribute[]> {
  const planned = records.find(({ rollout, upgrade }) => upgrade !== undefined && rollout.endedAt === null);
  if (planned !== undefined) return sharedAttributes.ofCollector(store, planned.rollout, id);
  const asked = await ask();
  return asked.kind === 'found' ? attributesOf(asked.collector) : [];
}

/** @param records of this policy */
async function explainFor(
  parts: ExplainParts,
  policy: Policy,
  {
    asking,
    records,
    found,
  }: {
    readonly asking: Asking;
    readonly records: readonly KeptRecord[];
    readonly found: FoundActive;
  },
): Promise<Explanation> {
  const { active, upgrade, unreadableIn } = found;
  const now = parts.clock.now();
  // A rollout that is rolling back and its rollback are both active. The one that has the collector explains it.
  const rolloutId = upgrade?.identity.rolloutId ?? unreadableIn ?? active[0];
  const view = rolloutId === undefined ? undefined : await loadRolloutSummary(parts, rolloutId, now);
  const none = {
    policy: policy.name,
    rollout: rolloutId ?? null,
    wave: null,
    state: null,
    heldGroup: null,
    shared: null,
    attempts: [],
    rule: null,
  };
  if (upgrade !== undefined && view !== undefined) {
    const group = await findHeldGroup(parts, view.rollout, upgrade);
    return {
      ...none,
      kind: 'planned',
      wave: view.rollout.waves[upgrade.identity.wave]?.name ?? null,
      state: upgrade.progress.state,
      target: upgrade.identity.toBuild,
      stratum: await findStratum(parts, view, upgrade),
      heldGroup: group?.label ?? heldStratumLabel(view, upgrade),
      shared: await findShared(parts, view, upgrade),
      attempts: attemptsOf(upgrade),
      ...((await explainHold(parts, view.rollout, upgrade)) ?? explainUpgrade(view, upgrade, now, group)),
    };
  }
  if (unreadableIn !== undefined && view !== undefined) {
    const { targetBuild } = view.rollout.plan;
    return {
      ...none,
      kind: 'unreadable',
      target: targetBuild,
      stratum: null,
      ...explainUnreadable(view),
    };
  }
  return { ...none, ...(await explainOutside(parts, policy, { asking, records, view })) };
}

/** The held group that a planned collector belongs to. A rollback takes back held groups as well. */
async function findHeldGroup(
  { register, store, sharedAttributes }: ExplainParts,
  rollout: Rollout,
  { identity: { collectorId } }: Upgrade,
) {
  const { groups } = await register.holds();
  if (groups.length === 0 || rollout.kind === 'rollback') return undefined;
  const attributes = await sharedAttributes.ofCollector(store, rollout, collectorId);
  return groups.find((group) => areAmong(attributes, group.attributes));
}

/** What the failures of its rollout share, where it has it and may yet be upgraded; null: nothing. */
async function findShared(
  parts: ExplainParts,
  view: RolloutView,
  { identity, progress: { state } }: Upgrade,
) {
  const mayBeUpgraded = isFailed(state) || state === 'pending' || state === 'retrying';
  if (!mayBeUpgraded || view.rollout.kind === 'rollback') return null;
  const { sharedAttribute } = await withShownAttribute(parts, view, await loadCauses(parts, view));
  if (sharedAttribute === undefined) return null;
  const own = await parts.sharedAttributes.ofCollector(parts.store, view.rollout, identity.collectorId);
  return areAmong(own, sharedAttribute.attributes) ? sharedAttribute : null;
}

/** Its stratum by `spreadBy`, also where the rollout moved it to the stratum of a held group; null: unknown. */
async function findStratum(
  { store, sharedAttributes }: ExplainParts,
  { rollout, groups }: RolloutView,
  { identity }: Upgrade,
): Promise<string | null> {
  const isMoved = groups.strata[identity.stratum]?.attributes !== undefined;
  const table = isMoved ? await sharedAttributes.tableOf(store, rollout) : undefined;
  return makeFormerStratum(groups, rollout.policy.spreadBy, table)(identity) ?? null;
}

/** The held group to whose stratum the rollout moved it; null: none, or the group was released. */
function heldStratumLabel({ rollout }: RolloutView, { identity }: Upgrade): string | null {
  const held = rollout.strata.held.find(({ stratum }) => stratum === identity.stratum);
  return held?.attributes === undefined ? null : held.label;
}

/** The explanation of a collector that a hold withdrew; undefined for any other collector. */
async function explainHold(
  parts: Pick<ExplainParts, 'register' | 'forecast'>,
  rollout: Rollout,
  upgrade: Upgrade,
) {
  if (upgrade.progress.state !== 'withdrawn') return undefined;
  const [held] = await parts.register.holdsOf([upgrade.identity.collectorId]);
  return explainWithdrawnByHold(upgrade, {
    isHeld: held !== undefined,
    acceptsJoiners: acceptsLateJoiners(rollout),
    nextScanAt: parts.forecast(rollout.policy.name, 1)[0] ?? null,
  });
}

type FoundActive = Awaited<ReturnType<typeof findActive>>;

/** The collector's record in the active rollouts of a policy. A rollback that has it follows the rollout that it undoes. */
async function findActive({ store }: Pick<ExplainParts, 'store'>, policy: string, collectorId: number) {
  const active = await store.activeRolloutIds([policy]);
  const loaded = await Promise.all(
    active.map(async (rolloutId) => ({ rolloutId, ...(await store.loadUpgrades(rolloutId, [collectorId])) })),
  );
  const latest = loaded.findLast(({ upgrades, unreadable }) => upgrades.length + unreadable.length > 0);
  const upgrade = latest?.upgrades[0];
  return { active, upgrade, unreadableIn: upgrade === undefined ? latest?.rolloutId : undefined };
}

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => {
    asked ??= ask();
    return asked;
  };
}
