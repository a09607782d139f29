import { assertNever } from '../../base/assert.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import { isWatched, judgeRow } from '../../rollout/upgrade/evolve.ts';
import type { InventoryRow, UpgradeFact } from '../../rollout/upgrade/facts.ts';
import { describeFailure } from '../../rollout/upgrade/failure-classes.ts';
import { readingPeriod, type WatchedRollout } from '../../rollout/upgrade/reading-period.ts';
import type { RowVerdict } from '../../rollout/upgrade/state-rules.ts';
import type { FleetService, InventoryPage } from '../ports/fleet-service.ts';
import type { StepQueue } from '../ports/leader.ts';
import type { ChangeRolloutParts } from '../records/change-rollout.ts';
import { type ChangeUpgradeParts, recordFacts, type UpgradeFinding } from '../records/change-upgrade.ts';
import { judgeInventory } from './judge-inventory.ts';
import type { Observations } from './observations.ts';

export interface WatchParts extends ChangeUpgradeParts, ChangeRolloutParts {
  readonly fleet: FleetService;
  readonly queue: StepQueue;
  readonly policies: readonly string[];
  /** All daemons on the access key together. */
  readonly requestsPerSecond: number;
  readonly observations: Observations;
  /** Since when records come from the Redis that is there now; always, where left out. */
  readonly trustedSince?: () => EpochMs;
}

interface WatchedUpgrade {
  readonly rollout: Rollout;
  readonly upgrade: Upgrade;
}

interface Watch {
  readonly rollouts: readonly Rollout[];
  readonly byCollector: ReadonlyMap<number, readonly WatchedUpgrade[]>;
  readonly loads: readonly WatchedRollout[];
}

// Those that are due first; those beyond them are polled one by one.
const upgradesMax = 5_000;

// Nothing to watch is found by asking the store, which is cheap, but not free.
const idleMs: DurationMs = 500;

// Single polls come back after this many periods without a page.
const unchangedPeriods = 2;

// Of a service that gives so few collectors a page that single polls cost less, pages are tried again after this.
const pagesAgainMs: DurationMs = 10 * 60_000;

// After readings that failed: 2, 4, 8 … periods, so that a service which can't page is left to single polls.
const failedPollsMax = 4;

/**
 * Reads the inventory, page by page, as long as that shows more than single polls, and records what each row shows
 * of the upgrades that were running before the page was asked for. Level-triggered: a crash between two lines costs
 * a page, and without any pages the polls come back by themselves. Ends when there is nothing to watch.
 */
export async function watch(
  parts: WatchParts,
  isLeading: () => boolean,
  signal: AbortSignal,
): Promise<'done'> {
  let failedPolls = 0;
  let pagesRead = 0;
  while (!signal.aborted && isLeading()) {
    const beganAt = parts.clock.now();
    const { rollouts, byCollector, loads } = await listWatched(parts);
    const periodMs = readingPeriod(loads, parts.requestsPerSecond, pagesRead);
    if (periodMs === null) {
      const arePagesDear = readingPeriod(loads, parts.requestsPerSecond) !== null;
      if (arePagesDear) await parts.sleep(pagesAgainMs, signal);
      break;
    }
    let pages = 0;
    const answer = await parts.fleet.readInventory((page) => {
      pages += 1;
      return readPage(parts, byCollector, page, periodMs);
    }, signal);
    pagesRead = Math.max(pages, answer.ok ? 0 : pagesRead);
    if (signal.aborted) break;
    if (answer.ok) {
      failedPolls = 0;
      // A row counts as it is. What a missing row means is judged from the whole list.
      for (const rollout of rollouts) await judgeInventory(parts, rollout, answer.value);
    } else {
      failedPolls = Math.min(failedPollsMax, failedPolls + 1);
      // Reported once: polls take over, which costs requests and nothing else.
      if (failedPolls === 1) {
        const reason = `inventory poll failed: ${describeFailure(answer.failure)}`;
        parts.sink.note({ event: 'poll.failed', rollout: '', reason });
      }
    }
    const waitMs = periodMs * 2 ** failedPolls - (parts.clock.now() - beganAt);
    await parts.sleep(Math.max(waitMs, periodMs / 4), signal);
  }
  await parts.sleep(idleMs, signal);
  return 'done';
}

async function listWatched({ store, policies, accounts }: WatchParts): Promise<Watch> {
  const byCollector = new Map<number, WatchedUpgrade[]>();
  const loads: WatchedRollout[] = [];
  const rollouts: Rollout[] = [];
  for (const rolloutId of await store.activeRolloutIds(policies)) {
    const rollout = await store.loadRollout(rolloutId);
    if (rollout === undefined || rollout.unreadable?.kind === 'newer') continue;
    // Their ids mean other collectors here.
    if (accounts !== undefined && (await accounts.statusOf(rollout)).kind !== 'own') continue;
    rollouts.push(rollout);
    const upgrades = await store.listDue(rolloutId, upgradesMax);
    for (const upgrade of upgrades) {
      const others = byCollector.get(upgrade.identity.collectorId) ?? [];
      byCollector.set(upgrade.identity.collectorId, [...others, { rollout, upgrade }]);
    }
    loads.push({
      watched: upgrades.filter(isWatched).length,
      fleetSize: rollout.fleetSize,
      expectMs: rollout.policy.upgrade.expectMs,
    });
  }
  return { rollouts, byCollector, loads };
}

async function readPage(
  parts: WatchParts,
  byCollector: Watch['byCollector'],
  { collectors, serviceAt }: InventoryPage,
  periodMs: DurationMs,
): Promise<void> {
  const findings = new Map<string, { readonly rollout: Rollout; readonly rows: UpgradeFinding[] }>();
  const at = parts.clock.now();
  const trustedSince = parts.trustedSince?.() ?? 0;
  parts.observations.note({ collectors, serviceAt }, at);
  for (const { id, build, alive, lastSeenAlive } of collectors) {
    const row = { build, alive, lastSeenAlive: lastSeenAlive ?? null, serviceAt };
    for (const { rollout, upgrade } of byCollector.get(id) ?? []) {
      const verdict = judgeRow(upgrade, row, { at, periodMs, policy: rollout.policy, trustedSince });
      const fact = factOf(verdict, row, { at, until: at + unchangedPeriods * periodMs });
      if (fact === undefined) continue;
      const of = findings.get(rollout.id) ?? { rollout, rows: [] };
      of.rows.push({ upgrade, fact });
      findings.set(rollout.id, of);
    }
  }
  for (const { rollout, rows } of findings.values()) await write(parts, rollout, rows);
}

function factOf(
  verdict: RowVerdict,
  row: InventoryRow,
  { at, until }: { readonly at: EpochMs; readonly until: EpochMs },
): UpgradeFact | undefined {
  switch (verdict) {
    case 'collectorSeen':
      return { kind: 'collectorSeen', at, ...row, upgradable: null };
    case 'changeHinted':
      return { kind: 'changeHinted', at };
    case 'unchanged':
      return { kind: 'unchanged', at, until };
    case 'none':
      return undefined;
    default:
      return assertNever(verdict);
  }
}

async function write(parts: WatchParts, rollout: Rollout, rows: readonly UpgradeFinding[]): Promise<void> {
  const changed = await recordFacts(parts, rollout, rows, {});
  const later = new Set(
    rows.flatMap(({ upgrade, fact }) => (fact.kind === 'unchanged' ? [upgrade.identity.collectorId] : [])),
  );
  const sooner = changed.map(({ identity: { collectorId } }) => collectorId).filter((id) => !later.has(id));
  // Their jobs wait for the instants that were due before. A crash before this line leaves the steps overdue, and the
  // reconciler brings them forward.
  if (sooner.length > 0) await parts.queue.bringForward(rollout.id, sooner);
}
