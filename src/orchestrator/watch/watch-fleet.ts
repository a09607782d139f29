import { isSameBuild } from '../../base/build-version.ts';
import type { Clock, DurationMs, EpochMs } from '../../base/time.ts';
import type { Sleep } from '../../base/waiting.ts';
import { hintsMax, planReadings, type Reading } from '../../rollout/readings/reading-period.ts';
import { describeFailure } from '../../rollout/upgrade/failure-classes.ts';
import type { ReadApiBudgetStatus } from '../ports/api-budget.ts';
import type { Answer, FleetService, ListedPage } from '../ports/fleet-service.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';
import type { ChangeRolloutParts } from '../records/change-rollout.ts';
import {
  type ControlList,
  countBuildsOf,
  countReturned,
  type FleetBuilds,
  makeControlList,
} from './control-list.ts';
import { type HintCredit, makeHintCredit } from './hint-credit.ts';
import { judgeInventory } from './judge-inventory.ts';
import {
  awaitList,
  type PageParts,
  pollTasks,
  type ReadingContext,
  recordPage,
  recordUnlisted,
} from './page-findings.ts';
import { listWatched, type Watched } from './watched-upgrades.ts';

export interface WatchParts extends PageParts, ChangeRolloutParts {
  readonly store: RolloutStore;
  readonly clock: Clock;
  readonly sleep: Sleep;
  readonly fleet: FleetService;
  readonly policies: () => readonly string[];
  readonly readApiBudgetStatus: ReadApiBudgetStatus;
}

// New upgrades, and the last ends of a wave, may make a list due earlier.
const restMaxMs: DurationMs = 5_000;
const restMaxShare = 1 / 50;

// Where pages hold so few collectors that single polls cost less, a list is tried again after this time for each of its pages.
const pageAgainMs: DurationMs = 3 * 60_000;

// After failed readings the watch waits 2, 4, 8 … periods: a service without working pages is left to single polls.
const failedPollsMax = 4;

/**
 * Reads lists of the service page by page, as long as that shows more than single polls, and records what each page shows
 * about upgrades that were running before its request. Level-triggered: a crash between two lines costs a page, and without
 * pages the polls resume by themselves. It ends when there is nothing to watch.
 */
export async function watchFleet(
  parts: WatchParts,
  isLeading: () => boolean,
  signal: AbortSignal,
): Promise<'done'> {
  const { clock, sleep } = parts;
  const beganAt = clock.now();
  const tries = new Map<string, Try>();
  const control = makeControlList(parts.register);
  const credit = makeHintCredit();
  let pagesRead = 0;
  let pagesReadAt: EpochMs = beganAt;
  while (!signal.aborted && isLeading()) {
    const now = clock.now();
    const watched = await listWatched(parts, now);
    await control.choose(watched);
    const { requestsPerSecondNow: requestsPerSecond } = await parts.readApiBudgetStatus();
    const other = control.inTurnWith(watched);
    const limits = { requestsPerSecond, controlBuild: control.whole(), isReadInTurn: other !== undefined };
    const readings = planReadings(watched.loads, { ...limits, pagesRead });
    const restMs = Math.min(restMaxMs, ...watched.loads.map((load) => load.usualMs * restMaxShare));
    if (readings.length === 0) {
      const arePagesDear = planReadings(watched.loads, limits).length > 0;
      if (!arePagesDear) break;
      // More upgrades may make pages worth their requests.
      if (now - pagesReadAt >= pagesRead * pageAgainMs) pagesRead = 0;
      else await sleep(restMs, signal);
      continue;
    }
    const dues = readings.map((reading) => ({ reading, dueAt: dueAtOf(reading, tries, beganAt) }));
    const next = earliest(dues);
    const untried = next.reading.of === 'tasks' ? undefined : control.untried();
    if (untried === undefined && next.dueAt > now) {
      const returns = dues.filter(({ reading }) => reading.of === 'control' || reading.of === 'inventory');
      const { reading, dueAt } = earliest(returns.length === 0 ? dues : returns);
      // A list that could not be read, or has no stable order, replaces no poll.
      if (returns.length > 0 && tries.get(keyOf(reading))?.isInOrder === true) {
        const isOfferRead = makeIsOfferRead(readings, other !== undefined);
        await awaitList(parts, { watched, isOfferRead, credit }, { dueAt, periodMs: reading.periodMs });
      }
      await sleep(Math.min(next.dueAt - now, restMs), signal);
      continue;
    }
    const planned: Reading =
      untried === undefined
        ? next.reading
        : { of: 'control', toBuild: untried, periodMs: next.reading.periodMs };
    const reading =
      planned.of === 'control' ? { ...planned, toBuild: control.next(planned.toBuild, other) } : planned;
    const before = tries.get(keyOf(planned));
    const failedBefore = before?.failed ?? 0;
    // The list that was read in turn may not have shown the end.
    const readBeforeAt =
      before?.failed === 0 && reading.of === 'control' && other === undefined ? before.at : null;
    const answer = await read(
      parts,
      watched,
      { reading, readings, readBeforeAt, requestsPerSecond, isReadInTurn: other !== undefined, credit },
      signal,
    );
    if (signal.aborted) break;
    tries.set(keyOf(planned), {
      at: now,
      failed: answer.ok ? 0 : Math.min(failedPollsMax, failedBefore + 1),
      isInOrder: answer.ok && answer.value.isInOrder,
    });
    if (answer.ok && reading.of === 'inventory') {
      pagesRead = answer.value.pages;
      pagesReadAt = now;
      control.noteInventory(answer.value);
    }
    if (reading.of === 'control') noteControl(control, reading.toBuild, answer);
    // Reported once, because polls take over. That costs only requests.
    if (!answer.ok && failedBefore === 0) {
      const reason = `${reading.of} poll failed: ${describeFailure(answer.failure)}`;
      parts.sink.note({ event: 'poll.failed', rollout: '', reason });
    }
  }
  return 'done';
}

/** A refused build is no longer on offer. Other failures say nothing about the list. */
function noteControl(control: ControlList, build: string, answer: ReadingAnswer): void {
  if (answer.ok) control.noteListed(build, answer.value.returned);
  else if (answer.failure.kind === 'refused') control.noteListed(build, undefined);
}

/** The last reading of a list, and how many in a row have failed. */
interface Try {
  readonly at: EpochMs;
  readonly failed: number;
  readonly isInOrder: boolean;
}

function keyOf(reading: Reading): string {
  return 'toBuild' in reading ? `${reading.of}/${reading.toBuild}` : reading.of;
}

function dueAtOf(reading: Reading, tries: ReadonlyMap<string, Try>, beganAt: EpochMs): EpochMs {
  const last = tries.get(keyOf(reading));
  if (last !== undefined) return last.at + reading.periodMs * 2 ** last.failed;
  // A new leader has no observations. None of its known tasks has ended yet.
  return reading.of === 'upgradable' ? beganAt + reading.periodMs : beganAt;
}

function earliest<Due extends { readonly dueAt: EpochMs }>(dues: readonly Due[]): Due {
  return dues.reduce((best, due) => (due.dueAt < best.dueAt ? due : best));
}

/** Whether one of these lists shows the end of an upgrade's task, failed or not. */
function makeIsOfferRead(readings: readonly Reading[], isReadInTurn: boolean): ReadingContext['isOfferRead'] {
  return ({ fromBuild, toBuild }) =>
    readings.some((each) => {
      // Without another list, a collector that failed and stays on the control build is on none.
      if (each.of === 'control') return isReadInTurn || !isSameBuild(fromBuild, each.toBuild);
      return each.of === 'upgradable' && isSameBuild(each.toBuild, toBuild);
    });
}

type ReadingAnswer = Answer<FleetBuilds & { readonly pages: number; readonly isInOrder: boolean }>;

/** Reads one list, and records what each of its pages shows. */
async function read(
  parts: WatchParts,
  watched: Watched,
  round: {
    readonly reading: Reading;
    readonly readings: readonly Reading[];
    readonly readBeforeAt: EpochMs | null;
    readonly requestsPerSecond: number;
    readonly isReadInTurn: boolean;
    readonly credit: HintCredit;
  },
  signal: AbortSignal,
): Promise<ReadingAnswer> {
  const { reading, readings } = round;
  const { rollouts, loads } = watched;
  round.credit.judge(watched.byCollector);
  let hintsLeft = hintsMax(loads, round.requestsPerSecond, reading.periodMs);
  const context: ReadingContext = {
    watched,
    reading,
    beganAt: parts.clock.now(),
    nextListMs: Math.min(...readings.map(({ periodMs }) => periodMs)),
    readBeforeAt: round.readBeforeAt,
    isReadInTurn: round.isReadInTurn,
    credit: round.credit,
    mayHint: () => {
      hintsLeft -= 1;
      return hintsLeft >= 0;
    },
    isOfferRead: makeIsOfferRead(readings, round.isReadInTurn),
  };
  if (reading.of === 'tasks') {
    await pollTasks(parts, context);
    return { ok: true, value: { pages: 0, isInOrder: true, returned: 0, collectorsOn: new Map() } };
  }
  const listed = new Set<number>();
  let pages = 0;
  let returned = 0;
  const onPage = async (page: ListedPage) => {
    pages += 1;
    returned += countReturned(page.collectors, watched);
    for (const { id } of page.collectors) listed.add(id);
    await recordPage(parts, context, page);
  };
  if (reading.of !== 'inventory') {
    const answer = await parts.fleet.readUpgradable(reading.toBuild, onPage, signal);
    if (!answer.ok) return answer;
    const { isInOrder } = answer.value;
    if (reading.of === 'control' && isInOrder) await recordUnlisted(parts, context, listed);
    return { ok: true, value: { pages, isInOrder, returned, collectorsOn: new Map() } };
  }
  const answer = await parts.fleet.readInventory(onPage, signal);
  if (!answer.ok) return answer;
  // A row counts by itself. A missing row is judged only from the complete list.
  if (!signal.aborted) for (const rollout of rollouts) await judgeInventory(parts, rollout, answer.value);
  const collectorsOn = countBuildsOf(answer.value.collectors);
  return { ok: true, value: { pages, isInOrder: true, returned, collectorsOn } };
}
