import { assertNever } from '../../base/assert.ts';
import { isSameBuild } from '../../base/build-version.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { judgeOffer, judgeRow } from '../../rollout/upgrade/evolve.ts';
import type { InventoryRow, UpgradeFact } from '../../rollout/upgrade/facts.ts';
import { describeFailure, type ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';
import { hintsMax, planReadings, type Reading } from '../../rollout/upgrade/reading-period.ts';
import type { RowVerdict } from '../../rollout/upgrade/state-rules.ts';
import type { FleetService, InventoryPage } from '../ports/fleet-service.ts';
import type { StepQueue } from '../ports/leader.ts';
import type { ChangeRolloutParts } from '../records/change-rollout.ts';
import { type ChangeUpgradeParts, recordFacts, type UpgradeFinding } from '../records/change-upgrade.ts';
import { judgeInventory } from './judge-inventory.ts';
import type { Observations } from './observations.ts';
import { listWatched, type Watched } from './watched-upgrades.ts';

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

// Nothing to watch is found by asking the store, which is cheap, but not free.
const idleMs: DurationMs = 500;

// Upgrades that start meanwhile may make a list due sooner.
const restMaxMs: DurationMs = 5_000;

// Single polls come back after this many periods without a page.
const unchangedPeriods = 2;

// Of a service that gives so few collectors a page that single polls cost less, pages are tried again after this.
const pagesAgainMs: DurationMs = 10 * 60_000;

// After readings that failed: 2, 4, 8 … periods, so that a service which can't page is left to single polls.
const failedPollsMax = 4;

/**
 * Reads lists of the service, page by page, as long as that shows more than single polls, and records what each page
 * shows of the upgrades that were running before it was asked for. Level-triggered: a crash between two lines costs
 * a page, and without any pages the polls come back by themselves. Ends when there is nothing to watch.
 */
export async function watch(
  parts: WatchParts,
  isLeading: () => boolean,
  signal: AbortSignal,
): Promise<'done'> {
  const { clock, sleep } = parts;
  const beganAt = clock.now();
  const tries = new Map<string, Try>();
  let pagesRead = 0;
  while (!signal.aborted && isLeading()) {
    const now = clock.now();
    const watched = await listWatched(parts, now);
    const readings = planReadings(watched.loads, parts.requestsPerSecond, pagesRead);
    if (readings.length === 0) {
      const arePagesDear = planReadings(watched.loads, parts.requestsPerSecond).length > 0;
      if (arePagesDear) await sleep(pagesAgainMs, signal);
      break;
    }
    const next = earliest(readings.map((reading) => ({ reading, dueAt: dueAtOf(reading, tries, beganAt) })));
    if (next.dueAt > now) {
      await sleep(Math.min(next.dueAt - now, restMaxMs), signal);
      continue;
    }
    const { reading } = next;
    const key = keyOf(reading);
    const failedBefore = tries.get(key)?.failed ?? 0;
    const answer = await read(parts, watched, reading, readings, signal);
    if (signal.aborted) break;
    tries.set(key, { at: now, failed: answer.ok ? 0 : Math.min(failedPollsMax, failedBefore + 1) });
    if (reading.of === 'inventory') pagesRead = Math.max(answer.pages, answer.ok ? 0 : pagesRead);
    // Reported once: polls take over, which costs requests and nothing else.
    if (!answer.ok && failedBefore === 0) {
      const reason = `${reading.of} poll failed: ${describeFailure(answer.failure)}`;
      parts.sink.note({ event: 'poll.failed', rollout: '', reason });
    }
  }
  await sleep(idleMs, signal);
  return 'done';
}

/** The last reading of a list, and how many in a row have failed. */
interface Try {
  readonly at: EpochMs;
  readonly failed: number;
}

function keyOf(reading: Reading): string {
  return reading.of === 'inventory' ? 'inventory' : `upgradable/${reading.toBuild}`;
}

function dueAtOf(reading: Reading, tries: ReadonlyMap<string, Try>, beganAt: EpochMs): EpochMs {
  const last = tries.get(keyOf(reading));
  if (last !== undefined) return last.at + reading.periodMs * 2 ** last.failed;
  // A new leader knows nothing of the collectors. No task that it knows of has ended yet.
  return reading.of === 'inventory' ? beganAt : beganAt + reading.periodMs;
}

function earliest<Due extends { readonly dueAt: EpochMs }>(dues: readonly Due[]): Due {
  return dues.reduce((best, due) => (due.dueAt < best.dueAt ? due : best));
}

type ReadingAnswer = ({ readonly ok: true } | { readonly ok: false; readonly failure: ServiceFailure }) & {
  readonly pages: number;
};

async function read(
  parts: WatchParts,
  { rollouts, byCollector, loads }: Watched,
  reading: Reading,
  readings: readonly Reading[],
  signal: AbortSignal,
): Promise<ReadingAnswer> {
  const { periodMs } = reading;
  let hintsLeft = hintsMax(loads, parts.requestsPerSecond, periodMs);
  const mayHint = () => {
    hintsLeft -= 1;
    return hintsLeft >= 0;
  };
  let pages = 0;
  if (reading.of === 'upgradable') {
    const { toBuild } = reading;
    const answer = await parts.fleet.readUpgradable(
      toBuild,
      (ids) => noteOffers(parts, byCollector, { ids, toBuild, periodMs, mayHint }),
      signal,
    );
    return { ...answer, pages };
  }
  const offersRead = new Set(readings.flatMap((each) => (each.of === 'upgradable' ? [each.toBuild] : [])));
  const answer = await parts.fleet.readInventory((page) => {
    pages += 1;
    return readPage(parts, byCollector, page, { periodMs, mayHint, offersRead });
  }, signal);
  // A row counts as it is. What a missing row means is judged from the whole list.
  if (answer.ok && !signal.aborted)
    for (const rollout of rollouts) await judgeInventory(parts, rollout, answer.value);
  return { ...answer, pages };
}

/** What all pages of one reading are judged by. */
interface ReadingContext {
  readonly periodMs: DurationMs;
  /** Whether a row may make one more poll due. */
  readonly mayHint: () => boolean;
}

/** Ends that the upgradable list shows: the service would not start another upgrade before the task is over. */
async function noteOffers(
  parts: WatchParts,
  byCollector: Watched['byCollector'],
  of: ReadingContext & { readonly ids: readonly number[]; readonly toBuild: string },
): Promise<void> {
  const at = parts.clock.now();
  const findings = new Findings();
  for (const id of of.ids)
    for (const { rollout, upgrade } of byCollector.get(id) ?? []) {
      const isOffered = isSameBuild(upgrade.identity.toBuild, of.toBuild);
      if (isOffered && judgeOffer(upgrade, { at, periodMs: of.periodMs }) === 'changeHinted' && of.mayHint())
        findings.add(rollout, { upgrade, fact: { kind: 'changeHinted', at } });
    }
  await findings.write(parts);
}

async function readPage(
  parts: WatchParts,
  byCollector: Watched['byCollector'],
  { collectors, serviceAt }: InventoryPage,
  { periodMs, mayHint, offersRead }: ReadingContext & { readonly offersRead: ReadonlySet<string> },
): Promise<void> {
  const findings = new Findings();
  const at = parts.clock.now();
  const trustedSince = parts.trustedSince?.() ?? 0;
  parts.observations.note({ collectors, serviceAt }, at);
  for (const { id, build, alive, lastSeenAlive } of collectors) {
    const row = { build, alive, lastSeenAlive: lastSeenAlive ?? null, serviceAt };
    for (const { rollout, upgrade } of byCollector.get(id) ?? []) {
      const isOfferRead = offersRead.has(upgrade.identity.toBuild);
      const { policy } = rollout;
      const judged = judgeRow(upgrade, row, { at, periodMs, policy, trustedSince, isOfferRead });
      const verdict = judged === 'changeHinted' && !mayHint() ? 'unchanged' : judged;
      const fact = factOf(verdict, row, { at, until: at + unchangedPeriods * periodMs });
      if (fact !== undefined) findings.add(rollout, { upgrade, fact });
    }
  }
  await findings.write(parts);
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

/** What a page showed, by rollout. */
class Findings {
  readonly #of = new Map<string, { readonly rollout: Rollout; readonly rows: UpgradeFinding[] }>();

  add(rollout: Rollout, finding: UpgradeFinding): void {
    const of = this.#of.get(rollout.id) ?? { rollout, rows: [] };
    of.rows.push(finding);
    this.#of.set(rollout.id, of);
  }

  async write(parts: WatchParts): Promise<void> {
    for (const { rollout, rows } of this.#of.values()) await write(parts, rollout, rows);
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
