import { isSameBuild } from '../../base/build-version.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { dayMs } from '../../base/time-zone.ts';
import type { AuditEntry } from '../../contract/admin/holds.ts';
import type { RolloutNight } from '../../contract/admin/night.ts';
import { assessCalendar, type ClosedBy, calendarOfWave } from '../calendar/calendar.ts';
import type { CalendarRules } from '../calendar/open-stretches.ts';
import { closedText } from '../messages/blockers.ts';
import type { RolloutEvent, RolloutEventName } from '../model/events.ts';
import type { ReplacedCalendar, Rollout, Wave } from '../model/rollout.ts';
import { describeGates } from './describe-gates.ts';

type Lane = RolloutNight['lanes'][number];
type Span = Lane['spans'][number];
type Band = RolloutNight['bands'][number];
type Mark = RolloutNight['marks'][number];

const marksMax = 200;
const stretchesMax = 60;

/**
 * A rollout on one time axis: its waves, what stopped all of them, and what operators did.
 * @param newestFirst its stored events; those of upgrades are not used
 * @param audit what operators did in all rollouts, newest first
 */
export function describeNight(
  rollout: Rollout,
  newestFirst: readonly RolloutEvent[],
  now: EpochMs,
  audit: readonly AuditEntry[] = [],
): RolloutNight {
  const events = newestFirst.filter(({ event }) => !event.startsWith('upgrade.')).toReversed();
  const ofAudit = auditMarks(rollout, audit);
  const backAbortedAt = ofAudit.findLast(({ event }) => event === 'rollout.aborted')?.at ?? null;
  const closed = closedBands(rollout, events, (rollout.endedAt ?? now) + dayMs);
  return {
    from: rollout.createdAt,
    to: rollout.endedAt,
    lanes: rollout.waves.map((wave) => ({
      wave: wave.name,
      state: wave.state,
      spans: spansOf(rollout, wave, { events, backAbortedAt, now }),
    })),
    bands: [...buildHoldBands(rollout, audit), ...stopBands(rollout, events), ...closed],
    marks: [...eventMarks(events), ...ofAudit, ...gateMarks(rollout)]
      .sort((a, b) => a.at - b.at)
      .slice(-marksMax),
  };
}

/** After these nothing starts any more, until the rollout is reopened. */
const ends: readonly RolloutEventName[] = [
  ...(['rollout.aborted', 'rollout.superseded', 'rollout.rollingBack', 'rollout.rolledBack'] as const),
  ...(['rollout.succeeded', 'rollout.finishedWithFailures'] as const),
];

/** When the rollout stopped for good; null: it did not. */
function stoppedAt({ endedAt }: Rollout, events: readonly RolloutEvent[]): EpochMs | null {
  const since = events.findLastIndex(({ event }) => event === 'rollout.reopened') + 1;
  return events.slice(since).find(({ event }) => ends.includes(event))?.at ?? endedAt;
}

/** The leader judges a gate within this time of the end of the soak. */
const passMs: DurationMs = 1_000;

interface SpanParts {
  readonly events: readonly RolloutEvent[];
  /** When an operator aborted the rollback of this rollout; null: nobody did. */
  readonly backAbortedAt: EpochMs | null;
  readonly now: EpochMs;
}

function spansOf(rollout: Rollout, wave: Wave, { events, backAbortedAt, now }: SpanParts): readonly Span[] {
  const atOf = (event: RolloutEventName) =>
    events.find((each) => each.event === event && each.wave === wave.name)?.at ?? null;
  const stop = stoppedAt(rollout, events);
  const { openedAt, soakEndsAt, passedAt } = wave;
  const end = passedAt ?? stop;
  const span = (kind: Span['kind'], from: EpochMs | null, to: EpochMs | null): readonly Span[] =>
    from === null || (to !== null && to <= from) ? [] : [{ kind, from, to, dueAt: null }];
  const approval = span('approval', atOf('wave.awaitingApproval'), atOf('wave.approved') ?? openedAt ?? stop);
  if (openedAt === null) return approval;
  const soaksAt = atOf('wave.soaking') ?? (wave.state === 'soaking' ? openedAt : null);
  const soakEnd = soaksAt === null ? null : earliest(atOf('wave.soakSkipped'), soakEndsAt, end);
  const isOver = soakEnd !== null && soakEnd <= now;
  return [
    ...approval,
    ...span(rollout.kind === 'rollback' ? 'back' : 'upgrade', openedAt, soaksAt ?? end),
    ...span('soak', soaksAt, isOver ? soakEnd : null).map((soak) => ({ ...soak, dueAt: soakEndsAt })),
    ...(isOver && (end ?? now) - soakEnd > passMs ? span('gates', soakEnd, end) : []),
    ...wentBack(rollout, events).flatMap(({ from, to }) => span('back', from, earliest(backAbortedAt, to))),
  ];
}

function earliest(...instants: ReadonlyArray<EpochMs | null>): EpochMs | null {
  const known = instants.filter((at) => at !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/** When collectors of all waves were rolled back: by another rollout, whose waves are not those of this one. */
function wentBack({ endedAt }: Rollout, events: readonly RolloutEvent[]) {
  const isEnd = ({ event }: RolloutEvent) => event === 'rollout.rolledBack' || event === 'rollout.aborted';
  return events.flatMap(({ event, at }, index) =>
    event === 'rollout.rollingBack'
      ? [{ from: at, to: events.slice(index + 1).find(isEnd)?.at ?? endedAt }]
      : [],
  );
}

/** When its target build was held, while it had not ended. */
function buildHoldBands(rollout: Rollout, newestFirst: readonly AuditEntry[]): readonly Band[] {
  const { createdAt, endedAt, plan } = rollout;
  const turns = newestFirst.toReversed().filter(({ subject }) => isSameBuild(subject, plan.targetBuild));
  return turns.flatMap(({ event, at, reason, by }, index): readonly Band[] => {
    if (event !== 'build.held') return [];
    const releasedAt = turns.slice(index + 1).find((turn) => turn.event === 'build.released')?.at ?? null;
    const to = earliest(releasedAt, endedAt);
    const from = Math.max(at, createdAt);
    return to !== null && to <= from ? [] : [{ kind: 'buildHold', from, to, reason, by }];
  });
}

const bandOf: Readonly<Partial<Record<RolloutEventName, 'hold' | 'pause'>>> = {
  'rollout.held': 'hold',
  'rollout.paused': 'pause',
};
const bandEnds: readonly RolloutEventName[] = [...ends, 'rollout.resumed', 'rollout.reopened'];

/** Holds and pauses, an implausible inventory, and the wait for the approval of the plan. */
function stopBands(rollout: Rollout, events: readonly RolloutEvent[]): readonly Band[] {
  const { createdAt, endedAt, state } = rollout;
  const bands = events.flatMap(({ event, at, reason, by }, index): readonly Band[] => {
    const until = (isEnd: (event: RolloutEventName) => boolean) =>
      events.slice(index + 1).find((each) => isEnd(each.event))?.at ?? endedAt;
    const kind = bandOf[event];
    if (kind !== undefined) {
      const to = until((each) => bandEnds.includes(each) || each in bandOf);
      return [{ kind, from: at, to, reason, by }];
    }
    if (event !== 'inventory.implausible') return [];
    return [{ kind: 'inventory', from: at, to: until((each) => each === 'inventory.trusted'), reason, by }];
  });
  const approved = events.find(({ event }) => event === 'rollout.approved');
  if (approved === undefined && state !== 'awaitingApproval') return bands;
  return [
    { kind: 'approval', from: createdAt, to: approved?.at ?? null, reason: '', by: 'daemon' },
    ...bands,
  ];
}

/** When no upgrade could start by the calendar. */
function closedBands(rollout: Rollout, events: readonly RolloutEvent[], horizon: EpochMs): readonly Band[] {
  const { waves, createdAt, endedAt, rollback } = rollout;
  const backFrom = wentBack(rollout, events)[0]?.from ?? null;
  const lifted = events.find(({ event }) => event === 'rollout.windowsLifted');
  // A rollback that ignores the calendar does so from its start on.
  const keptUntil = lifted?.at ?? (rollback.anyTime ? (backFrom ?? createdAt) : Number.POSITIVE_INFINITY);
  const bands: Band[] = [];
  for (const period of calendarPeriods(rollout, events, { keptUntil, horizon }))
    for (const band of closedIn(period, waves, backFrom)) {
      const last = bands.at(-1);
      if (last?.kind === band.kind && last.to === band.from && last.reason === band.reason)
        bands.splice(-1, 1, { ...last, to: band.to });
      else bands.push(band);
    }
  // What begins with the end of the rollout kept nothing from starting.
  return endedAt === null ? bands : bands.filter(({ from }) => from < endedAt - passMs);
}

interface CalendarPeriod {
  readonly calendar: Omit<ReplacedCalendar, 'until'>;
  readonly from: EpochMs;
  /** Infinite for the present calendar. */
  readonly to: EpochMs;
  /** Stretches that begin later are left out. */
  readonly horizon: EpochMs;
}

/**
 * The calendars of a rollout, one after the other, and the present one last. A change whose calendar the record does not have
 * was made by an earlier upwave, or too many followed: nothing is known before it.
 */
function calendarPeriods(
  { policy, config, createdAt }: Rollout,
  events: readonly RolloutEvent[],
  { keptUntil, horizon }: { readonly keptUntil: EpochMs; readonly horizon: EpochMs },
): readonly CalendarPeriod[] {
  const { replacedCalendars: replaced = [] } = config;
  const knownFrom = replaced[0]?.until ?? Number.POSITIVE_INFINITY;
  // An event of an earlier upwave has no kind.
  const unknown = events.findLast(
    ({ event, reasonKind, at }) =>
      event === 'rollout.policyChanged' && reasonKind !== 'limits' && at < knownFrom,
  );
  let from = unknown?.at ?? createdAt;
  return [...replaced, { ...policy, until: keptUntil }].map((calendar) => {
    const period = { calendar, from, to: Math.min(calendar.until, keptUntil), horizon };
    from = Math.max(from, calendar.until);
    return period;
  });
}

/**
 * A wave may have a calendar of its own, which applies until it has passed: that of the last one also to the retries after
 * that. A rollback has the calendar of the policy.
 * @param backFrom when the rollback of all waves began; null: there was none
 */
function closedIn(
  { calendar, from, to: periodEnd, horizon }: CalendarPeriod,
  waves: readonly Wave[],
  backFrom: EpochMs | null,
): readonly Band[] {
  const until = Math.min(periodEnd, backFrom ?? periodEnd);
  const bands: Band[] = [];
  let at = from;
  for (const [index, { passedAt }] of waves.entries()) {
    const isLast = index === waves.length - 1;
    const to = isLast ? until : Math.min(passedAt ?? until, until);
    bands.push(
      ...closedStretches(calendarOfWave(calendar, calendar.waves[index]), { from: at, to, horizon }),
    );
    if (passedAt === null) break;
    at = Math.max(at, to);
  }
  if (backFrom === null) return bands;
  const back = calendarOfWave(calendar, undefined);
  return [...bands, ...closedStretches(back, { from: Math.max(from, backFrom), to: periodEnd, horizon })];
}

function closedStretches(
  rules: CalendarRules,
  { from, to: until, horizon }: Omit<CalendarPeriod, 'calendar'>,
): readonly Band[] {
  const stretches: Band[] = [];
  let at = from;
  // Each turn advances to the next change of the calendar. A day has few of them.
  for (let turn = 0; turn < 2 * stretchesMax && at < Math.min(until, horizon); turn += 1) {
    const opening = assessCalendar(rules, '', at);
    const to = Math.min(opening.until ?? until, until);
    if (opening.closedBy !== null) {
      const end = Number.isFinite(to) ? to : null;
      stretches.push({ ...closedBand(opening.closedBy), from: at, to: end, by: '' });
    }
    if (to <= at) break;
    at = to;
  }
  return stretches;
}

function closedBand(closedBy: ClosedBy): Pick<Band, 'kind' | 'reason'> {
  if (closedBy.kind === 'freeze') return { kind: 'freeze', reason: closedBy.reason };
  return { kind: 'window', reason: closedBy.kind === 'window' ? '' : closedText(closedBy) };
}

/** Spans, bands and gates show these events already. */
const shownOtherwise: readonly RolloutEventName[] = [
  ...(['rollout.held', 'rollout.paused', 'inventory.implausible', 'gate.changed'] as const),
  ...(['wave.awaitingApproval', 'wave.opened', 'wave.soaking', 'wave.passed'] as const),
];

function eventMarks(events: readonly RolloutEvent[]): readonly Mark[] {
  return events
    .filter(({ event }) => !shownOtherwise.includes(event))
    .map(({ at, event, wave = null, reason, by }) => ({ kind: 'event', at, event, wave, reason, by }));
}

type EventMark = Extract<Mark, { kind: 'event' }>;

/** What operators did to it without an event of its own: retries while it runs, and the abort of its rollback. */
function auditMarks({ id, rollback }: Rollout, audit: readonly AuditEntry[]): readonly EventMark[] {
  return audit.toReversed().flatMap(({ event, subject: whole, ...act }): readonly EventMark[] => {
    const mark = { kind: 'event', event, wave: null, ...act } as const;
    if (event === 'rollout.aborted') return whole === rollback.startedAs ? [{ ...mark, subject: whole }] : [];
    if (event !== 'rollout.retried' || !whole.startsWith(`${id} `)) return [];
    return [{ ...mark, subject: whole.slice(id.length + 1) }];
  });
}

/** The answers that changed a verdict, and the last one of each gate. */
function gateMarks(rollout: Rollout): readonly Mark[] {
  return describeGates(rollout).flatMap(({ wave, name: gate, expect, samples }) =>
    samples
      .filter(
        ({ verdict }, index) =>
          verdict !== samples[index - 1]?.verdict || (index > 0 && index === samples.length - 1),
      )
      .map(({ at, verdict, value }): Mark => ({ kind: 'gate', at, wave, gate, verdict, value, expect })),
  );
}
