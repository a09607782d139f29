import type { EpochMs } from '../../base/time.ts';
import { assessSoak } from '../../rollout/decision/soak.ts';
import { implausibleText } from '../../rollout/messages/stop-causes.ts';
import type { Rollout, RolloutView } from '../../rollout/model/rollout.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import { collectorsPerPage } from '../../rollout/readings/reading-period.ts';
import type { InventoryRow, UpgradeFact } from '../../rollout/upgrade/facts.ts';
import { describeFailure } from '../../rollout/upgrade/failure-classes.ts';
import type { FleetService } from '../ports/fleet-service.ts';
import { type ChangeRolloutParts, changeRollout } from '../records/change-rollout.ts';
import { type ChangeUpgradeParts, recordFacts, type UpgradeFinding } from '../records/change-upgrade.ts';
import { listSoaking } from '../records/read-records.ts';
import { judgeInventory } from '../watch/judge-inventory.ts';

export interface SoakPollParts extends ChangeRolloutParts, ChangeUpgradeParts {
  readonly fleet: FleetService;
}

interface SoakReading {
  readonly seen: ReadonlyMap<number, InventoryRow>;
  /** Collectors that a plausible inventory lacks and that the service does not know by their id. */
  readonly gone: readonly Upgrade[];
  /** Why some collectors could not be observed. The soak cannot end with such a reading (P14). */
  readonly unseen: string | undefined;
}

interface Inventory {
  /** undefined if it could not be read. */
  readonly rows: ReadonlyMap<number, InventoryRow> | undefined;
  /** Why missing collectors are no evidence; undefined if they are. */
  readonly refusal: string | undefined;
}

// In a plausible inventory few collectors are missing or dead, and each of these is polled. This is 2 % of the largest
// account.
const pollsMax = 200;

// An implausible inventory that lacks more of a wave is no evidence about it. Hundreds of polls would displace other
// requests.
const pollsMaxInDoubt = 20;

/**
 * Polls the upgraded collectors of a soaking wave with as few requests as possible. A missing row is no evidence, and a row
 * may be outdated because of a cache or a pause between pages. So each collector that is missing or dead in the inventory
 * is polled by its id. Collectors that died, left the build or vanished without an explanation become failures of the wave.
 * Then the reading itself is stored, and the soak may end after it (P14).
 */
export async function pollSoakingCollectors(
  parts: SoakPollParts,
  view: RolloutView,
  wave: number,
  signal: AbortSignal,
): Promise<'done' | 'again'> {
  const { rollout } = view;
  const at = parts.clock.now();
  const upgrades = await listSoaking(parts.store, view, wave);
  const hadFailed = (rollout.waves[wave]?.soakCheck?.failedPolls ?? 0) > 0;
  const { seen, gone, unseen } = await readSoak(parts, rollout, { upgrades, hadFailed }, signal);
  if (signal.aborted) return 'again';
  let silent = 0;
  const findings: UpgradeFinding[] = [];
  for (const upgrade of upgrades) {
    const sighting = seen.get(upgrade.identity.collectorId);
    if (sighting === undefined) continue;
    const verdict = assessSoak(upgrade.identity.toBuild, sighting, sighting.serviceAt);
    if (verdict.kind === 'silent') silent += 1;
    if (verdict.kind !== 'regressed') continue;
    const { lost, reason } = verdict;
    findings.push({ upgrade, fact: { kind: 'regressed', at: parts.clock.now(), lost, reason } });
  }
  const held = await parts.register.holdsOf(gone.map(({ identity }) => identity.collectorId));
  for (const upgrade of gone) {
    const isHeld = held.some(({ collectorId }) => collectorId === upgrade.identity.collectorId);
    findings.push({ upgrade, fact: factOfGone(upgrade, isHeld, parts.clock.now()) });
  }
  await recordFacts(parts, rollout, findings, {});
  // Reported once, until a poll works again.
  if (unseen !== undefined && !hadFailed) {
    const reason = `soak check of wave ${rollout.waves[wave]?.name ?? ''} failed: ${unseen}`;
    parts.sink.note({ event: 'poll.failed', rollout: rollout.id, reason });
  }
  await changeRollout(parts, rollout.id, 'daemon', (current) => {
    const soaking = current.rollout.waves[wave];
    if (current.rollout.state !== 'running' || soaking?.state !== 'soaking') return undefined;
    const failedPolls = unseen === undefined ? 0 : (soaking.soakCheck?.failedPolls ?? 0) + 1;
    return { kind: 'soakPolled', at: parts.clock.now(), wave, check: { at, silent, failedPolls } };
  });
  return 'done';
}

/** An unexplained deletion may be caused by the build. Explained are ephemeral collectors, and those that an operator holds. */
function factOfGone({ identity: { ephemeral } }: Upgrade, isHeld: boolean, at: EpochMs): UpgradeFact {
  if (ephemeral === true || isHeld) {
    const because = ephemeral === true ? 'ephemeral' : 'held';
    return { kind: 'departed', at, reason: { kind: 'departed', because } };
  }
  return { kind: 'regressed', at, lost: false, reason: { kind: 'vanished' } };
}

async function readSoak(
  parts: SoakPollParts,
  rollout: Rollout,
  { upgrades, hadFailed }: { readonly upgrades: readonly Upgrade[]; readonly hadFailed: boolean },
  signal: AbortSignal,
): Promise<SoakReading> {
  const seen = new Map<number, InventoryRow>();
  const gone: Upgrade[] = [];
  const pages = Math.ceil(rollout.plan.fleetSize / collectorsPerPage);
  let inventory: Inventory | undefined;
  let unseen: string | undefined;
  if (upgrades.length > pages) {
    inventory = await readRows(parts, rollout, signal);
    const { rows, refusal } = inventory;
    if (rows === undefined) return { seen, gone, unseen: refusal };
    for (const { identity } of upgrades) {
      const { collectorId, toBuild } = identity;
      const row = rows.get(collectorId);
      if (row !== undefined && assessSoak(toBuild, row, row.serviceAt).kind !== 'regressed')
        seen.set(collectorId, row);
    }
  }
  let polls = 0;
  for (const upgrade of upgrades.filter(({ identity: { collectorId } }) => !seen.has(collectorId))) {
    polls += 1;
    const most = inventory?.refusal === undefined ? pollsMax : pollsMaxInDoubt;
    if (inventory !== undefined && polls > most) {
      unseen =
        inventory.refusal ?? `the inventory shows more than ${most} of its collectors as dead or not at all`;
      break;
    }
    const { collectorId } = upgrade.identity;
    const answer = await parts.fleet.pollCollector(
      { collectorId, upgradableTo: null, urgent: false },
      signal,
    );
    if (answer.ok) seen.set(collectorId, answer.value);
    else if (answer.failure.kind === 'refused') {
      // The service does not show this one by its id, so the list has to do. A failure needs a second reading.
      inventory ??= await readRows(parts, rollout, signal);
      if (inventory.refusal !== undefined) {
        unseen = inventory.refusal;
        break;
      }
      const row = inventory.rows?.get(collectorId);
      const isWell =
        row !== undefined && assessSoak(upgrade.identity.toBuild, row, row.serviceAt).kind !== 'regressed';
      if (!isWell && !hadFailed) unseen = describeFailure(answer.failure);
      else if (row === undefined) gone.push(upgrade);
      else seen.set(collectorId, row);
    } else if (answer.failure.kind !== 'notFound') {
      unseen = describeFailure(answer.failure);
      break;
    } else {
      // Without an earlier inventory, one is read now: it decides whether the 404 counts.
      inventory ??= await readRows(parts, rollout, signal);
      if (inventory.refusal === undefined && inventory.rows?.has(collectorId) === false) gone.push(upgrade);
      else
        unseen =
          inventory.refusal ??
          `the inventory lists ${upgrade.identity.collectorName}, but its id answers 404`;
    }
  }
  return { seen, gone, unseen };
}

async function readRows(parts: SoakPollParts, rollout: Rollout, signal: AbortSignal): Promise<Inventory> {
  const inventory = await parts.fleet.readInventory(null, signal);
  if (!inventory.ok) return { rows: undefined, refusal: describeFailure(inventory.failure) };
  const { serviceAt, collectors } = inventory.value;
  const verdict = await judgeInventory(parts, rollout, inventory.value);
  const rows = collectors.map(
    ({ id, build, alive, lastSeenAlive = null }) => [id, { build, alive, lastSeenAlive, serviceAt }] as const,
  );
  const refusal = verdict.kind === 'plausible' ? undefined : implausibleText(verdict.why);
  return { rows: new Map(rows), refusal };
}
