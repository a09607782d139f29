import { type DurationMs, type EpochMs, earliest } from '../../base/time.ts';
import { assessCalendar, calendarOf, needsCollectorZone } from '../calendar/calendar.ts';
import type { CalendarRules } from '../calendar/open-stretches.ts';
import type { Lane } from '../model/plan-groups.ts';
import type { Candidate, LaneQueue, RolloutView } from '../model/rollout.ts';
import { type Blocker, isWindowWait, type LaneBlocker } from './blocker.ts';
import { paceOf } from './pace.ts';
import { makeTurnRule } from './start-order.ts';

/** A collector that gets a slot, and the last instant at which its create may be sent (P7). */
export interface PickedCollector {
  readonly collectorId: number;
  readonly startBy: EpochMs | null;
}

export interface Admission {
  readonly picks: readonly PickedCollector[];
  /** Why candidates do not start. */
  readonly blockers: readonly Blocker[];
  /** When a blocker ends by itself. */
  readonly wakeAt: EpochMs | null;
}

/** Whether collectors of a lane may start now. */
export type LaneVerdict =
  | { readonly kind: 'free'; readonly startBy: EpochMs | null }
  | { readonly kind: 'blocked'; readonly blocker: LaneBlocker & { readonly until: EpochMs | null } };

// A 95th percentile of fewer durations is not reliable.
const learnedMin = 10;

// A longer list would hide the reason that matters.
const blockersShownMax = 5;

/**
 * Gives free slots: retries first, then pending collectors, slow strata earlier than in plan order. It skips lanes that have to wait: a cap, a window
 * or a held stratum must not idle a slot that another lane could use (P2, P7).
 */
export function admissionOf(view: RolloutView, now: EpochMs): Admission {
  const verdicts = verdictsOnLanes(view, now);
  const blocked = blockersOf(verdicts);
  const wakeAt = earliest([view.nextRetryAt, ...blocked.map(({ until }) => until)]);
  const waiting = verdicts.filter(({ queue }) => hasCandidates(queue));
  if (waiting.every(isHeld))
    return {
      picks: [],
      blockers: [...blockersOf(waiting), ...retryBlockers(view, now)],
      wakeAt: view.nextRetryAt,
    };
  const free = freeSlots(view);
  if (free <= 0) return { picks: [], blockers: [slotBlocker(view)], wakeAt };
  const pace = paceOf(view, now);
  const picks = pick(view, verdicts, free);
  if (pace === undefined || pace.startsNow >= picks.length) {
    const blockers = picks.length === 0 ? blocked : blocked.filter(({ until }) => until !== null);
    return { picks, blockers, wakeAt };
  }
  return {
    picks: picks.slice(0, pace.startsNow),
    blockers: [pace.blocker, ...blocked.filter(({ until }) => until !== null)],
    wakeAt: earliest([wakeAt, pace.blocker.until]),
  };
}

/** Why retries do not start while nothing else waits or runs: a closed calendar where it lasts longer than their delay. */
function retryBlockers(view: RolloutView, now: EpochMs): readonly Blocker[] {
  const { slotsTaken, nextRetryAt } = view;
  if (slotsTaken > 0 || nextRetryAt === null) return [];
  const closed = closedPastRetry(view, nextRetryAt, now);
  if (closed === undefined) return [{ kind: 'retryNotDue', until: nextRetryAt }];
  return [{ ...closed.closedBy, timeZone: '', until: closed.until }];
}

/** How the calendar is closed beyond the instant of the next retry; undefined if it is not, or where zones differ. */
function closedPastRetry(view: RolloutView, nextRetryAt: EpochMs, now: EpochMs) {
  const calendar = calendarOf(view.rollout);
  if (needsCollectorZone(calendar)) return undefined;
  const { closedBy, until } = assessCalendar(calendar, '', now);
  if (closedBy === null || (until !== null && until <= nextRetryAt)) return undefined;
  return { closedBy, until };
}

/** How many upgrades may start now; negative after a reload has lowered `concurrency` (P2). */
export function freeSlots({ rollout, slotsTaken }: RolloutView): number {
  return rollout.policy.concurrency - slotsTaken;
}

/** What an upgrade waits for while no slot is free. */
export function slotBlocker({ rollout }: RolloutView): Blocker {
  return { kind: 'concurrency', slots: rollout.policy.concurrency, until: null };
}

/**
 * When the next window opens, if all candidates that are not held wait for one; null if not within a year; undefined if some may
 * start or none waits for a window. A retry that is not due yet waits for the window too, unless the window opens first.
 */
export function nextOpening(view: RolloutView, now: EpochMs): EpochMs | null | undefined {
  const waiting = verdictsOnLanes({ ...view, candidates: view.candidates.filter(hasCandidates) }, now);
  if (waiting.every(isHeld))
    return view.nextRetryAt === null ? undefined : closedPastRetry(view, view.nextRetryAt, now)?.until;
  const verdicts = waiting.map(({ verdict }) => verdict);
  if (verdicts.some(({ kind }) => kind === 'free')) return undefined;
  const closed = verdicts.flatMap((verdict) =>
    verdict.kind === 'blocked' && isWindowWait(verdict.blocker.kind) ? [verdict.blocker.until] : [],
  );
  return closed.length === 0 ? undefined : earliest(closed);
}

/**
 * Makes the rule that decides whether collectors of a lane may start, and why not. Evaluated in order: what an operator
 * must act on comes first. The calendar is evaluated once per time zone, because thousands of lanes share a few zones.
 */
export function makeLaneRule(view: RolloutView, now: EpochMs): (laneIndex: number) => LaneVerdict {
  const calendar = calendarOf(view.rollout);
  const held = new Map(view.rollout.strata.held.map((each) => [each.stratum, each]));
  const openings = new Map<string, ZoneOpening>();
  const openingIn = (timeZone: string): ZoneOpening => {
    const known = openings.get(timeZone);
    if (known !== undefined) return known;
    const opening = openingOf(calendar, timeZone, now);
    openings.set(timeZone, opening);
    return opening;
  };
  return (laneIndex) => {
    const lane = view.groups.lanes[laneIndex];
    if (lane === undefined) return { kind: 'free', startBy: null };
    const hold = held.get(lane.stratum);
    if (hold !== undefined) {
      const { label, reason } = hold;
      return blocked({ kind: 'stratumHeld', label, reason });
    }
    const window = verdictOnWindow(view, lane, openingIn(lane.timeZone), now);
    if (window.kind === 'blocked') return window;
    const full = lane.domains.find((domain) => roomIn(view, domain) <= 0);
    if (full === undefined) return window;
    const { label, cap } = view.groups.domains[full] ?? { label: '', cap: 0 };
    return blocked({ kind: 'cap', label, cap });
  };
}

/**
 * How long an upgrade of this stratum is expected to take at most (P7): learned, or as the policy expects. A learned
 * duration may include hours of an outage. Without a limit no window would be long enough afterwards.
 */
export function expectedMs(view: RolloutView, stratum: number): DurationMs {
  const learned = view.durations.get(stratum);
  const { expectMs, deadlineMs, verifyWithinMs } = view.rollout.policy.upgrade;
  if (learned === undefined || learned.count < learnedMin) return expectMs;
  return Math.min(learned.p95Ms, deadlineMs + verifyWithinMs);
}

type ZoneOpening = ReturnType<typeof openingOf>;

/** The state of the calendar of a zone, and when it opens again after it has closed. */
function openingOf(calendar: CalendarRules, timeZone: string, now: EpochMs) {
  const opening = assessCalendar(calendar, timeZone, now);
  const { until } = opening;
  return {
    ...opening,
    opensAgainAt: until === null ? null : assessCalendar(calendar, timeZone, until).until,
  };
}

function verdictOnWindow(
  view: RolloutView,
  { timeZone, stratum }: Lane,
  { closedBy, until, opensAgainAt }: ZoneOpening,
  now: EpochMs,
): LaneVerdict {
  if (closedBy !== null) return blocked({ ...closedBy, timeZone }, until);
  if (until === null) return alwaysFree;
  const expectMs = expectedMs(view, stratum);
  const startBy = until - expectMs;
  if (now <= startBy) return { kind: 'free', startBy };
  return blocked({ kind: 'windowTooShort', timeZone, expectMs }, opensAgainAt);
}

const alwaysFree: LaneVerdict = { kind: 'free', startBy: null };

function blocked(by: LaneBlocker, until: EpochMs | null = null): LaneVerdict {
  return { kind: 'blocked', blocker: { ...by, until } };
}

function roomIn(view: RolloutView, domain: number): number {
  return (view.groups.domains[domain]?.cap ?? 0) - (view.domainsTaken.get(domain) ?? 0);
}

type JudgedLane = { readonly queue: LaneQueue; readonly verdict: LaneVerdict };

function hasCandidates({ retries, pending }: LaneQueue): boolean {
  return retries.length + pending.length > 0;
}

function isHeld({ verdict }: JudgedLane): boolean {
  return verdict.kind === 'blocked' && verdict.blocker.kind === 'stratumHeld';
}

function verdictsOnLanes(view: RolloutView, now: EpochMs): readonly JudgedLane[] {
  const verdictOf = makeLaneRule(view, now);
  return view.candidates.map((queue) => ({ queue, verdict: verdictOf(queue.lane) }));
}

function pick(view: RolloutView, lanes: readonly JudgedLane[], free: number): readonly PickedCollector[] {
  const room = new Map<number, number>();
  const picks: PickedCollector[] = [];
  const turnOf = makeTurnRule(view);
  const retries = inOrder(lanes, 'retries', ({ candidate }) => candidate.order);
  const pending = inOrder(lanes, 'pending', ({ candidate, lane }) =>
    turnOf(candidate, view.groups.lanes[lane]?.stratum ?? -1),
  );
  for (const { candidate, lane, startBy } of [...retries, ...pending]) {
    if (picks.length >= free) break;
    const domains = view.groups.lanes[lane]?.domains ?? [];
    if (domains.some((domain) => (room.get(domain) ?? roomIn(view, domain)) <= 0)) continue;
    for (const domain of domains) room.set(domain, (room.get(domain) ?? roomIn(view, domain)) - 1);
    picks.push({ collectorId: candidate.collectorId, startBy });
  }
  return picks;
}

interface FreeCandidate {
  readonly candidate: Candidate;
  readonly lane: number;
  readonly startBy: EpochMs | null;
}

/** Candidates of free lanes, the lowest turn first. */
function inOrder(
  lanes: readonly JudgedLane[],
  kind: 'retries' | 'pending',
  turnOf: (free: FreeCandidate) => number,
): readonly FreeCandidate[] {
  const candidates: Array<FreeCandidate & { readonly turn: number }> = [];
  for (const { queue, verdict } of lanes) {
    if (verdict.kind !== 'free') continue;
    for (const candidate of queue[kind]) {
      const free = { candidate, lane: queue.lane, startBy: verdict.startBy };
      candidates.push({ ...free, turn: turnOf(free) });
    }
  }
  return candidates.sort((a, b) => a.turn - b.turn);
}

/** Each blocker once, the earliest end first. */
function blockersOf(lanes: readonly JudgedLane[]): readonly Blocker[] {
  const blockers = new Map<string, Blocker>();
  for (const { verdict } of lanes)
    if (verdict.kind === 'blocked') blockers.set(JSON.stringify(verdict.blocker), verdict.blocker);
  return [...blockers.values()]
    .sort((a, b) => (a.until ?? Number.POSITIVE_INFINITY) - (b.until ?? Number.POSITIVE_INFINITY))
    .slice(0, blockersShownMax);
}
