import { sumOf } from '../../base/grouping.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { advisesEndWithoutStrata, groupToHold, strataToReleaseFirst } from '../decision/group-to-hold.ts';
import type { IncidentDetails, Notice, NoticeAction, NoticeFigures, OnceDetails } from '../model/notice.ts';
import { isRolloutEnd } from '../model/rollout.ts';
import { endStates, isEnd, isFailed } from '../model/upgrade.ts';
import { countIn } from '../model/upgrade-figures.ts';
import { commandFor, quoteArgument } from '../status/command-for.ts';
import { askedNow } from '../status/legal-verbs.ts';
import type { RolloutVerb } from '../verbs/judge-verb.ts';

/** An announced incident that still needs a person. */
export interface OpenIncident {
  readonly incident: string;
  readonly details: IncidentDetails;
  /** When it was announced; absent in a record of an older version. */
  readonly raisedAt?: EpochMs;
}

/** What was announced about a rollout, stored between two readings of it. */
export interface AnnouncedRollout {
  readonly started: boolean;
  /** Names of passed waves that were announced. */
  readonly passed: readonly string[];
  readonly open: readonly OpenIncident[];
  readonly endedAt: EpochMs | null;
  /** A text that changes with each progress, and since when it has not changed. */
  readonly progress: { readonly mark: string; readonly at: EpochMs };
}

export interface NoticesOf<State> {
  readonly notices: readonly Notice[];
  readonly announced: State;
}

/**
 * Compares a rollout's status with what was announced, and returns the notices that are due. Level-triggered: it does not
 * matter how often or how late a rollout is read.
 * @param announced undefined if nothing was announced yet
 */
export function dueOfRollout(
  announced: AnnouncedRollout | undefined,
  status: RolloutStatus,
  at: {
    readonly now: EpochMs;
    /** Since when this installation sends notices. Of older rollouts it announces only what still needs a person. */
    readonly since: EpochMs;
    /** A rollout that could continue but has not for this long makes no progress. */
    readonly gracePeriodMs: DurationMs;
    /** Paths of the report files; without them, the notice names the command instead. */
    readonly reports?: readonly string[];
  },
): NoticesOf<AnnouncedRollout> {
  const { now } = at;
  const { id, policy, endedAt } = status;
  const isOld = announced === undefined && status.createdAt < at.since;
  const passed = status.waves
    .filter(({ state, size }) => state === 'passed' && size > 0)
    .map(({ name }) => name);
  const before = announced ?? {
    started: isOld,
    passed: isOld ? passed : [],
    open: [],
    endedAt: isOld ? endedAt : null,
    progress: { mark: '', at: now },
  };
  const progress = progressOf(before.progress, status, now);
  const open = openOf(status, { ...at, progress }).map((found) => identify(found, before.open, now));
  const figures = figuresOf(status);
  const facts = { at: now, policy, figures } as const;
  const once = (key: string, details: OnceDetails): Notice => {
    const incident = `${id}/${key}`;
    const asksForReport = details.event === 'finished' && details.reports === undefined;
    const commands = [statusCommand(status), ...(asksForReport ? [reportCommand(status)] : [])];
    return { ...facts, id: incident, incident, phase: 'once', details, commands };
  };
  const raise = ({ incident: key, details }: OpenIncident): Notice => {
    const steps = stepsFor(status, details);
    const commands = steps.map(({ command }) => command);
    const actions = steps.flatMap(({ action }) => action ?? []);
    return { ...facts, id: `${key}/raised`, incident: key, phase: 'raised', details, commands, actions };
  };
  const notices: Notice[] = [];
  if (!before.started)
    notices.push(
      once('started', { event: 'started', startedBy: status.startedBy, waves: status.waves.length }),
    );
  for (const name of passed.filter((each) => !before.passed.includes(each)))
    notices.push(once(`passed/${name}`, { event: 'wavePassed', wave: name, next: waveAfter(status, name) }));
  for (const over of without(before.open, open))
    notices.push({
      ...{ ...facts, ...overNotice(over) },
      ...{ ...endingOf(over, status), ...heldAsOf(over, status), ...continuesOf(over, status) },
    });
  for (const raised of without(open, before.open)) notices.push(raise(raised));
  if (endedAt !== null && before.endedAt !== endedAt)
    notices.push(once(`finished/${endedAt}`, finishedDetails(status, at.reports)));
  return {
    notices,
    announced: { started: true, passed, open: keep(before.open, open), endedAt, progress },
  };
}

function finishedDetails(status: RolloutStatus, reports: readonly string[] = []): OnceDetails {
  const { kind, state, reason, leftBehind, fromBuilds, targetBuild } = status;
  const by = leftBehind.map((left) => ({ count: left.count, reason: left.reason }));
  return {
    ...{ event: 'finished', state, reason },
    ...(reports.length > 0 && { reports }),
    ...(by.length > 0 && { left: { build: kind === 'rollback' ? (fromBuilds[0] ?? '') : targetBuild, by } }),
  };
}

/** What ends an incident without solving it: an abort, a rollback, or a pause where it was held. */
function endingOf({ details }: OpenIncident, { state, reason }: RolloutStatus) {
  const endsEarly =
    state === 'rollingBack' ||
    state === 'rolledBack' ||
    state === 'aborted' ||
    (state === 'paused' && details.event === 'held');
  return endsEarly ? ({ ending: { state, reason } } as const) : {};
}

/** A held group that took the collectors of a held stratum, or a person who holds the stratum itself. For them nothing has changed. */
function heldAsOf({ incident, details }: OpenIncident, { id, strata }: RolloutStatus) {
  if (details.event !== 'stratumHeld') return {};
  for (const { label, by, tookOver = [] } of strata.held) {
    const isPersons = by !== 'daemon' && incident.startsWith(`${id}/stratum/${label}/`);
    if (isPersons) return { heldAs: { label, by, remaining: 0 } } as const;
    for (const taken of tookOver)
      if (incident.startsWith(`${stratumIncident(id, taken)}/`))
        return { heldAs: { label, by, remaining: taken.remaining } } as const;
  }
  return {};
}

function stratumIncident(
  id: string,
  { label, at }: { readonly label: string; readonly at: EpochMs },
): string {
  return `${id}/stratum/${label}/${at}`;
}

/** Colleagues see in the chat who took care of a hold. The end of another incident leaves the reason of the rollout as it was. */
function continuesOf({ details }: OpenIncident, { state, reason }: RolloutStatus) {
  const isResumed = details.event === 'held' && details.headline === 'held' && state === 'running';
  return isResumed && reason !== '' ? { continues: reason } : {};
}

/** The part that closes an incident. */
export function overNotice({ incident, details, raisedAt }: OpenIncident) {
  const since = raisedAt === undefined ? {} : { raisedAt };
  return { id: `${incident}/over`, incident, phase: 'over', details, commands: [], ...since } as const;
}

/** The incidents of a list that another list lacks. */
function without(list: readonly OpenIncident[], other: readonly OpenIncident[]): readonly OpenIncident[] {
  return list.filter(({ incident }) => other.every((each) => each.incident !== incident));
}

/** The open incidents, each as it was announced first. */
function keep(before: readonly OpenIncident[], open: readonly OpenIncident[]): readonly OpenIncident[] {
  return open.map((each) => before.find(({ incident }) => incident === each.incident) ?? each);
}

function waveAfter({ waves }: RolloutStatus, name: string): string | null {
  const index = waves.findIndex((wave) => wave.name === name);
  return waves.slice(index + 1).find(({ size }) => size > 0)?.name ?? null;
}

/** The incidents that need a person now, by their names. A pause is none, because a person asked for it. */
function openOf(
  status: RolloutStatus,
  at: {
    readonly now: EpochMs;
    readonly gracePeriodMs: DurationMs;
    readonly progress: AnnouncedRollout['progress'];
  },
): readonly OpenIncident[] {
  const { id, headline, state, hold, reason } = status;
  if (status.endedAt !== null) return [];
  const open: OpenIncident[] = [];
  if (headline.kind === 'needsApproval') {
    const waiting = status.waves.find((wave) => wave.state === 'awaitingApproval')?.name ?? null;
    const wave = state === 'awaitingApproval' ? null : waiting;
    const incident = `${id}/approval/${wave ?? 'plan'}`;
    open.push({ incident, details: { event: 'approvalNeeded', wave } });
  } else if (headline.needsPerson && headline.kind !== 'paused' && !isOfRollback(status)) {
    // For another account or a newer version, the blockers contain the reason.
    const why = headline.kind === 'held' ? reason : (status.blockers[0]?.reason ?? reason);
    const incident = `${id}/${headline.kind}/${hold ?? 0}`;
    open.push({ incident, details: { event: 'held', reason: why, headline: headline.kind } });
  }
  // Its held strata start nothing any more, whether or not they are released.
  if (!isRolloutEnd(state) && state !== 'rollingBack') open.push(...heldStrataOf(status));
  const { mark, at: since } = at.progress;
  if (mark !== waitingMark && at.now - since >= at.gracePeriodMs)
    open.push({ incident: `${id}/noProgress/${since}`, details: { event: 'noProgress', since } });
  return open;
}

/** Whether the rollback of a rollout stops, or the policy for it is missing. That rollback is a rollout with messages of its own. */
function isOfRollback({ state, headline }: RolloutStatus): boolean {
  return headline.kind === 'rollingBack' || (headline.kind === 'policyMissing' && state === 'rollingBack');
}

/** What is over may come again, and is another incident then: its id ends with the time at which it was first seen. */
function identify(
  { incident: name, details }: OpenIncident,
  before: readonly OpenIncident[],
  now: EpochMs,
): OpenIncident {
  const opened = before.find(({ incident }) => incident.slice(0, incident.lastIndexOf('/')) === name);
  return { incident: opened?.incident ?? `${name}/${now}`, details, raisedAt: opened?.raisedAt ?? now };
}

// A build that fails on one operating system holds the stratum of each of its versions, one after the other.
const strataAnnouncedMax = 3;

/** One incident for each of the first strata that the daemon held, and one for all others. */
function heldStrataOf({ id, strata }: RolloutStatus): readonly OpenIncident[] {
  // A person's own hold needs no notice.
  const held = strata.held.filter(({ by }) => by === 'daemon').toSorted((a, b) => a.at - b.at);
  const further = held.slice(strataAnnouncedMax);
  const incidents = held.slice(0, strataAnnouncedMax).map(({ label, reason, at, waiting }): OpenIncident => {
    return {
      incident: stratumIncident(id, { label, at }),
      details: { event: 'stratumHeld', label, reason, waiting },
    };
  });
  const [first] = further;
  if (first === undefined) return incidents;
  const { label, reason, at } = first;
  const waiting = sumOf(further, (each) => each.waiting);
  const details = { event: 'stratumHeld', label, reason, waiting, others: further.length - 1 } as const;
  return [...incidents, { incident: `${id}/strata/${at}`, details }];
}

/** The mark of a rollout that waits for a known reason. */
const waitingMark = 'waits';

/** Ended upgrades and wave changes are progress; retries are not. */
function progressOf(
  before: AnnouncedRollout['progress'],
  status: RolloutStatus,
  now: EpochMs,
): AnnouncedRollout['progress'] {
  const { headline, blockers, waves, counts, state, rollbackId } = status;
  // Once its rollback is planned, only that one advances, and reports if it does not.
  const isOver = status.endedAt !== null || (state === 'rollingBack' && rollbackId !== null);
  const moves = !isOver && (headline.kind === 'running' || headline.kind === 'rollingBack');
  const isAwaited = blockers.some(({ until }) => until !== null && until > now);
  const mark =
    moves && !isAwaited
      ? [...endStates.map((state) => counts[state]), ...waves.map(({ state }) => state)].join()
      : waitingMark;
  return mark === before.mark ? before : { mark, at: now };
}

function figuresOf(status: RolloutStatus): NoticeFigures {
  const { counts } = status;
  const failures = status.causes.find((group) => group.of === 'failed');
  const causes = (failures?.causes ?? []).slice(0, causesMax).map(({ text, count }) => ({ text, count }));
  const otherFailures = (failures?.total ?? 0) - sumOf(causes, ({ count }) => count);
  return {
    rollout: status.id,
    kind: status.kind,
    targetBuild: status.targetBuild,
    planned: status.planned,
    succeeded: counts.succeeded,
    failed: countIn(counts, isFailed),
    ...(counts.withdrawn > 0 && { withdrawn: counts.withdrawn }),
    ...(counts.rolledBack > 0 && { rolledBack: counts.rolledBack }),
    inFlight: status.inFlight,
    remaining: Math.max(0, countIn(counts, (state) => !isEnd(state)) - status.inFlight),
    causes,
    ...(otherFailures > 0 && { otherFailures }),
    ...(status.sharedAttribute === null ? {} : { shared: status.sharedAttribute }),
  };
}

const causesMax = 3;

/** What a person can do next: the command, and the same as a dialog of the page. */
interface NoticeStep {
  readonly command: string;
  readonly action?: NoticeAction;
}

function stepsFor(status: RolloutStatus, details: IncidentDetails): readonly NoticeStep[] {
  const verbs = (...wanted: readonly RolloutVerb[]) =>
    wanted.filter((verb) => status.verbs.includes(verb)).map((verb) => verbStep(status, verb));
  switch (details.event) {
    case 'approvalNeeded':
      return [...releaseOfBuild(status, 'approve'), ...verbs('approve', 'abort')];
    case 'held': {
      const releases = releaseOfStrata(status);
      const resume = verbs('resume');
      const others = [...holdOfGroup(status), ...releaseOfBuild(status, 'resume')];
      const stops = verbs('abort', 'rollback');
      return advisesEndWithoutStrata(status)
        ? [...resume, ...releases, ...others, ...stops]
        : [...releases, ...others, ...resume, ...stops];
    }
    case 'stratumHeld':
      return details.others === undefined ? [releaseStep(details.label)] : [{ command: 'upwave holds' }];
    case 'noProgress':
    case 'discoveryFailing':
      return [{ command: statusCommand(status) }];
    default:
      return details satisfies never;
  }
}

function verbStep(status: RolloutStatus, verb: RolloutVerb): NoticeStep {
  return { command: commandFor(status, verb), action: { verb } };
}

function releaseStep(subject: string): NoticeStep {
  return { command: `upwave release ${quoteArgument(subject)}`, action: { verb: 'release', subject } };
}

/** A held build is released first. Only then is the verb possible that continues the rollout. */
function releaseOfBuild(status: RolloutStatus, then: RolloutVerb): readonly NoticeStep[] {
  const { buildHold, verbs } = status;
  if (buildHold === null) return [];
  const isLater = !verbs.includes(then) && askedNow(status, then) !== undefined;
  return [releaseStep(buildHold.build), ...(isLater ? [verbStep(status, then)] : [])];
}

const releasesMax = 3;

/** While all else is done, a release continues the rollout. */
function releaseOfStrata(status: RolloutStatus): readonly NoticeStep[] {
  const labels = strataToReleaseFirst(status);
  const others = labels.length > releasesMax ? [{ command: 'upwave holds' }] : [];
  return [...labels.slice(0, releasesMax).map(releaseStep), ...others];
}

function holdOfGroup(status: RolloutStatus): readonly NoticeStep[] {
  const subject = groupToHold(status);
  if (subject === undefined) return [];
  return [{ command: `upwave hold ${quoteArgument(subject)}`, action: { verb: 'hold', subject } }];
}

function statusCommand({ id }: RolloutStatus): string {
  return `upwave status ${quoteArgument(id)}`;
}

function reportCommand({ id }: RolloutStatus): string {
  return `upwave report ${quoteArgument(id)}`;
}
