import { sumOf } from '../../base/grouping.ts';
import { showCount } from '../../base/singular-or-plural.ts';
import { type EpochMs, formatDuration } from '../../base/time.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { WaveStatus } from '../../contract/admin/status-parts.ts';
import { groupToHoldFirst, startableOf, strataToReleaseFirst } from '../decision/group-to-hold.ts';
import { isFailed } from '../model/upgrade.ts';
import { countIn } from '../model/upgrade-figures.ts';
import type { RolloutVerb } from '../verbs/judge-verb.ts';
import { planText } from './plans.ts';
import { counted, sentence, stateText } from './sentences.ts';
import { byText, heldName } from './stratum-reasons.ts';

/** What the reader's clock and dialog add to a sentence. */
interface Reader {
  readonly now: EpochMs;
  readonly showAt: (at: EpochMs) => string;
  /** Only some of the failures may be chosen. */
  readonly choosesFailures?: boolean;
}

/**
 * What a verb would do now, in sentences, for an operator who confirms it (P15). A rollback has none: its preview is asked
 * of the daemon.
 */
export function consequenceText(verb: RolloutVerb, status: RolloutStatus, reader: Reader): readonly string[] {
  return consequences[verb](status, reader).filter((words) => words !== '');
}

/** What the hold of a group would do, in sentences, for an operator who confirms it. */
export const groupHoldTexts: readonly string[] = [
  'Held collectors start no upgrade, under any policy, until an operator releases them.',
  'An upgrade that is running is watched to its end.',
];

/** What the release of a held subject would start, in sentences. @param rollouts those that the page knows */
export function releaseTexts(subject: string, rollouts: readonly RolloutStatus[]): readonly string[] {
  const texts = rollouts
    .filter(({ endedAt }) => endedAt === null)
    .flatMap(({ id, state, strata }) =>
      strata.held
        .filter(({ label }) => label === subject)
        .map(({ waiting: count, failed = 0, by, reason }) => {
          const when = state === 'held' || state === 'paused' ? ' after a resume' : '';
          const before = failed === 0 ? '' : ` ${showCount(failed)} of its members failed before.`;
          const who = by === 'daemon' ? '' : ` ${sentence(`held ${byText({ by, words: reason })}`)}`;
          return `${counted(count, 'collector')} of ${id} can start${when}.${before}${who}`;
        }),
    );
  return texts.length > 0
    ? texts
    : ['It may be upgraded again. A collector that left a rollout returns with the next scan.'];
}

/** What the release of a build would change, in sentences, for an operator who confirms it. @param rollouts those that are shown */
export function buildReleaseTexts(build: string, rollouts: readonly RolloutStatus[]): readonly string[] {
  const waiting = rollouts.filter(({ endedAt, buildHold }) => endedAt === null && buildHold?.build === build);
  return [
    `All policies can start build ${build} again.`,
    ...waiting.map((rollout) => {
      const { id, state } = rollout;
      if (state === 'awaitingApproval') return `${id} can be approved then.`;
      const group = groupToHoldFirst(rollout);
      if (group !== undefined)
        return `${id} stays ${stateText(state)} until you resume it. Most of its failures have ${group}: hold that group first.`;
      return state === 'held' || state === 'paused'
        ? `${id} stays ${stateText(state)} until you resume it.`
        : '';
    }),
  ].filter((words) => words !== '');
}

const consequences: Readonly<
  Record<RolloutVerb, (status: RolloutStatus, reader: Reader) => readonly string[]>
> = {
  pause: (status) => [
    'Nothing more starts.',
    runningText(status),
    `Waiting until you resume: ${counted(waiting(status), 'collector')}.`,
  ],
  resume: (status) => [
    `It was stopped: ${sentence(status.reason)}`,
    strataToReleaseFirst(status).length === 0
      ? continuingText(status)
      : `The rollout ends. Not upgraded: ${counted(setAside(status), 'collector')} of held strata.`,
    staysHeldText('resume', status, status),
    ...status.waves
      .filter(({ state, failures }) => state !== 'passed' && failures > 0)
      .map(({ name, failures, failuresAllowed }) => {
        const count = `${counted(failures, 'failure')} of wave ${name}`;
        if (status.state === 'held')
          return `No longer counted: ${count}. The limit of ${failuresAllowed} stays.`;
        return failures > failuresAllowed
          ? `More than allowed: ${count}, ${showCount(failuresAllowed)} allowed. It may stop again immediately.`
          : `Still counted: ${count}, ${showCount(failuresAllowed)} allowed.`;
      }),
  ],
  approve: (status) =>
    status.state === 'awaitingApproval' ? approvedPlanText(status) : approvedWaveText(status),
  skipSoak: (status, { now, showAt }) => {
    const wave = waveThatIs('soaking', status);
    const endsAt = wave?.soakEndsAt ?? null;
    return [
      endsAt === null
        ? ''
        : `The soak of wave ${wave?.name} would end at ${showAt(endsAt)}, in ${formatDuration(Math.max(0, endsAt - now))}.`,
      `No longer watched: ${counted(wave?.counts.succeeded ?? 0, 'upgraded collector')}. The gates are still checked.`,
    ];
  },
  abort: (status) => (status.kind === 'rollback' ? abortedRollbackText(status) : abortedText(status)),
  rollback: () => [],
  retry: (status, { choosesFailures = false }) => {
    const failed = countIn(status.counts, isFailed);
    const held = failedInHeld(status);
    const when = held === 0 ? '' : `: ${restartText(status, failed - held, status)}`;
    const staying = ({ waiting: count, failed: more = 0 }: HeldStratum) =>
      count + (choosesFailures ? 0 : more);
    return [
      `To be upgraded again, with new attempts: ${choosesFailures ? 'the chosen ones of ' : ''}${counted(failed, 'failed collector')}${when}.`,
      heldUntilText(status, setAside(status) + (choosesFailures ? 0 : held), staying),
      'Failures of these upgrades no longer count until they fail again.',
    ];
  },
};

/** What starts after a resume, or what still happens where no collector waits. */
function continuingText(status: RolloutStatus): string {
  const { concurrency, inFlight, waves } = status;
  const starting = startableOf(status);
  if (starting > 0)
    return `To continue: ${counted(starting, 'collector')}, ${showCount(concurrency)} at a time.`;
  if (waiting(status) > 0) return 'No collector starts.';
  if (inFlight > 0) return `No collector waits. ${runningText(status)}`;
  const last = waves.findLast(({ state, size }) => state !== 'passed' && size > 0);
  return `No collector waits: the rollout ends${last === undefined ? '' : ` after the last checks of wave ${last.name}`}.`;
}

function abortedText(status: RolloutStatus): readonly string[] {
  return [
    `Not upgraded: ${counted(waiting(status), 'collector')}.`,
    runningText(status),
    `Staying on ${status.targetBuild}: ${counted(status.counts.succeeded, 'collector')}. Roll back to return them to their previous build.`,
  ];
}

function abortedRollbackText(status: RolloutStatus): readonly string[] {
  const { counts, fromBuilds } = status;
  return [
    `Returned to their previous builds: ${counted(counts.succeeded, 'collector')}.`,
    runningText(status),
    `Staying on ${fromBuilds[0] ?? 'the build'}: ${counted(waiting(status) + countIn(counts, isFailed), 'collector')}.`,
  ];
}

function approvedPlanText(status: RolloutStatus): readonly string[] {
  const { drift, buildHold } = status;
  return [
    buildHold === null
      ? ''
      : `Build ${buildHold.build} is held (${buildHold.reason}): \`upwave release ${buildHold.build}\` comes first.`,
    drift === null ? '' : `The fleet has changed since plan ${drift.from} was shown: ${drift.words}.`,
    sentence(planText(status)),
    windowText(status),
  ];
}

function approvedWaveText(status: RolloutStatus): readonly string[] {
  const { counts, concurrency, targetBuild } = status;
  const wave = waveThatIs('awaitingApproval', status);
  if (wave === undefined) return [];
  const starting = startingIn(wave);
  const aside =
    wave.setAside === 0 ? '' : `, ${counted(wave.setAside, 'more is', 'more are')} set aside in held strata`;
  return [
    `Wave ${wave.name} opens: ${counted(starting, 'collector')} to ${targetBuild}${aside}; ${concurrency} at a time.`,
    `It stops at more than ${counted(wave.failuresAllowed, 'failure')}.`,
    `So far ${counted(counts.succeeded, 'collector')} succeeded and ${countIn(counts, isFailed)} failed.`,
    windowText(status),
  ];
}

/** How many collectors an open wave starts: not those that are set aside. */
export function startingIn({ counts, setAside }: WaveStatus): number {
  return Math.max(0, counts.pending + counts.retrying - setAside);
}

function runningText({ inFlight }: RolloutStatus): string {
  return inFlight === 0
    ? 'No upgrade is running.'
    : `Watched to the end: ${counted(inFlight, 'running upgrade')}.`;
}

function windowText({ window }: RolloutStatus): string {
  return window === null || window.isOpen
    ? ''
    : `The window is closed now (${window.reason}); it starts when it opens.`;
}

function waiting({ counts }: RolloutStatus): number {
  return counts.pending + counts.retrying + counts.deferred;
}

/**
 * What a resume or a retry leaves held until a release, with its collectors. Empty if nothing stays held.
 * @param after the rollout after the verb, for its result
 */
export function staysHeldText(verb: 'resume' | 'retry', before: RolloutStatus, after: RolloutStatus): string {
  // A resume ends such a rollout without them.
  if (verb === 'resume' && strataToReleaseFirst(before).length > 0) return '';
  return heldUntilText(after, setAside(after), ({ waiting: count }) => count);
}

type HeldStratum = RolloutStatus['strata']['held'][number];

/** Names the stratum with the most collectors. Strata without any are named only if no stratum has one. */
function heldUntilText(
  { strata }: RolloutStatus,
  count: number,
  stayingIn: (held: HeldStratum) => number,
): string {
  const staying = strata.held
    .filter((held) => stayingIn(held) > 0)
    .sort((one, other) => stayingIn(other) - stayingIn(one));
  const [first, ...others] = staying.length > 0 ? staying : strata.held;
  if (first === undefined) return '';
  const more = others.length === 0 ? '' : ` and ${counted(others.length, 'other stratum', 'other strata')}`;
  const held = count === 0 ? 'Held' : `${counted(count, 'collector stays', 'collectors stay')} held`;
  return `${held} until a release: ${heldName(first.label)}${more}.`;
}

/** When retried collectors start, as the result of a retry. Empty if all can start. */
export function retriedText(before: RolloutStatus, after: RolloutStatus): string {
  const all = countIn(before.counts, isFailed) - countIn(after.counts, isFailed);
  const held = failedInHeld(before) - failedInHeld(after);
  if (held <= 0) return '';
  const failedAfter = new Map(after.strata.held.map((each) => [each.label, each.failed ?? 0]));
  const labels = before.strata.held
    .filter(({ label, failed = 0 }) => failed > (failedAfter.get(label) ?? 0))
    .map(({ label }) => label);
  return restartedText(restartText(before, Math.max(0, all - held), after, held, labels));
}

/**
 * When these failed collectors would start. Empty if all can start.
 * @param labelsOf for each of them the label of its held group, else of its stratum
 */
export function chosenRetriesText(status: RolloutStatus, labelsOf: readonly string[]): string {
  const labels = status.strata.held.map(({ label }) => label).filter((label) => labelsOf.includes(label));
  const held = labelsOf.filter((label) => labels.includes(label)).length;
  return held === 0 ? '' : restartedText(restartText(status, labelsOf.length - held, status, held, labels));
}

function restartedText(when: string): string {
  return `To be upgraded again: ${when}.`;
}

/**
 * `2 now; 15 when group osName=Windows* is released`.
 * @param status before the retry
 * @param free how many of the failed collectors are of no held stratum
 * @param after the rollout that starts them
 * @param held how many are of the held strata with these labels
 */
function restartText(
  status: RolloutStatus,
  free: number,
  { state }: Pick<RolloutStatus, 'state'>,
  held: number = failedInHeld(status),
  labels: readonly string[] = status.strata.held
    .filter(({ failed = 0 }) => failed > 0)
    .map(({ label }) => label),
): string {
  const [one, ...others] = labels;
  const released =
    one !== undefined && others.length === 0
      ? `${heldName(one)} is released`
      : `${others.length + 1} held strata are released`;
  const start = state === 'held' || state === 'paused' ? 'after a resume' : 'now';
  return [...(free > 0 ? [`${showCount(free)} ${start}`] : []), `${showCount(held)} when ${released}`].join(
    '; ',
  );
}

/** Failed members of held strata. After a retry they wait for a release. */
function failedInHeld({ strata }: RolloutStatus): number {
  return sumOf(strata.held, ({ failed = 0 }) => failed);
}

/** Waiting members of held strata: they start after a release. */
function setAside({ waves }: RolloutStatus): number {
  return waves.reduce((sum, wave) => sum + wave.setAside, 0);
}

/** undefined where the status and the verbs were read at different times, and no wave has this state: the daemon refuses. */
function waveThatIs(state: WaveStatus['state'], { waves }: RolloutStatus): WaveStatus | undefined {
  return waves.find((wave) => wave.state === state);
}
