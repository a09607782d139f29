import type { EpochMs } from '../../base/time.ts';
import type { BlockerKind } from '../../base/vocabulary.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { groupToHoldFirst } from '../../rollout/decision/group-to-hold.ts';
import { blockerUntilText } from '../../rollout/messages/need-texts.ts';
import { counted } from '../../rollout/messages/sentences.ts';
import { heldName } from '../../rollout/messages/stratum-reasons.ts';
import type { RolloutState } from '../../rollout/model/rollout.ts';
import { commandFor, quoteArgument, releasedMax } from '../../rollout/status/command-for.ts';
import type { RolloutVerb } from '../../rollout/verbs/judge-verb.ts';
import { showZoned } from '../shell/show-instant.ts';
import { type Fit, fitLines, type Part } from './fit-lines.ts';
import { outageText, windowText } from './waiting-text.ts';

// A build that is bad for an operating system holds one stratum for each version of that system.
const heldShownMax = 1;

/**
 * Why a rollout is in its state, what is held, and what it waits for.
 * @param style.heldMax what is held is cut after this many lines each; default: no limit
 * @param style.cutsIdle leaves out how held strata are released where nothing waits, and why where they are many
 */
export function whyLines(
  status: RolloutStatus,
  now: EpochMs,
  fit: Fit,
  { cutsIdle = false, heldMax }: HeldStyle & { readonly heldMax?: number } = {},
): readonly string[] {
  const linesOf = (parts: readonly Line[], linesMax?: number) =>
    parts.flatMap(([label, text]) => fitLines(label, [text], fit, linesMax));
  return [
    ...linesOf([...stateParts(status), ...driftParts(status)]),
    ...linesOf(heldParts(status, { cutsIdle }), heldMax),
    ...linesOf([...rollbackParts(status), ...waitParts(status, now), ...windowParts(status, now)]),
  ];
}

interface HeldStyle {
  readonly cutsIdle?: boolean;
}

type HeldStratum = RolloutStatus['strata']['held'][number];
type Line = readonly [label: string, text: Part];

/** States that need a reason. The others are clear by themselves, or have lines of their own. */
const stateLabels: Partial<Record<RolloutState, string>> = {
  held: 'held',
  paused: 'paused',
  aborted: 'aborted',
  rollingBack: 'back',
  rolledBack: 'back',
  superseded: 'ended',
};

function stateParts({ state, reason, reasonKind, rollbackId }: RolloutStatus): readonly Line[] {
  const label = stateLabels[state];
  // The line of the rollback has it.
  if (reasonKind === 'rollbackEnded' && rollbackId !== null && label === 'back') return [];
  return label === undefined || reason === '' ? [] : [[label, reason]];
}

function driftParts({ drift, state }: RolloutStatus): readonly Line[] {
  if (drift === null || state !== 'awaitingApproval') return [];
  return [['drift', `since plan ${drift.from}: ${drift.words}`]];
}

/** The verb that continues a rollout once its build is released. */
const afterRelease: Partial<Record<RolloutState, RolloutVerb>> = {
  held: 'resume',
  paused: 'resume',
  awaitingApproval: 'approve',
};

function heldParts(status: RolloutStatus, { cutsIdle = false }: HeldStyle): readonly Line[] {
  const { buildHold, strata, endedAt, state } = status;
  const lines: Line[] = [];
  if (buildHold !== null) {
    const { build, reason, by } = buildHold;
    // The line above has the reason of the rollout's hold, `upwave holds` that of the build's hold.
    const why = state === 'held' ? '' : `: ${reason}`;
    const words = `build ${build} is held${why} (by ${by})`;
    const verb = afterRelease[state];
    const then = verb === undefined ? '' : `, then ${commandFor(status, verb)}`;
    // A group is held before that, as the line with the commands shows.
    const isHoldFirst = state === 'held' && groupToHoldFirst(status) !== undefined;
    const advice = isHoldFirst ? '' : `; upwave release ${quoteArgument(build)}${then}`;
    lines.push(['held', `${words}${advice}`]);
  }
  const isOfDaemon = ({ by }: HeldStratum) => by === 'daemon';
  const each: HeldStratum[] = [];
  // Apart: what an operator holds is held on purpose, and a release of it is not the way on.
  for (const held of [strata.held.filter(isOfDaemon), strata.held.filter((one) => !isOfDaemon(one))])
    if (held.length > heldShownMax) lines.push(heldTogether(held, endedAt, { cutsIdle }));
    else each.push(...held);
  for (const { label, reason, by, waiting } of each) {
    const who = by === 'daemon' ? '' : ` (by ${by})`;
    const words = `${heldName(label)}: ${reason}${who}`;
    const wait = waiting > 0 ? `; ${counted(waiting, 'waits', 'wait')}` : '';
    // An ended rollout has nothing to release.
    const isReleased = endedAt === null && by === 'daemon' && !(cutsIdle && waiting === 0);
    const release = isReleased ? `; upwave release ${quoteArgument(label)}` : '';
    lines.push(['held', `${words}${wait}${release}`]);
  }
  return lines;
}

/** Many strata in one line: the first with its reason, and the command that lists the others. */
function heldTogether(
  held: readonly HeldStratum[],
  endedAt: RolloutStatus['endedAt'],
  { cutsIdle = false }: HeldStyle,
): Line {
  const [first] = held;
  const waiting = held.reduce((sum, each) => sum + each.waiting, 0);
  // Nothing waits in an ended rollout.
  const wait = endedAt !== null ? '' : `, ${counted(waiting, 'collector waits', 'collectors wait')}`;
  const such = first === undefined ? '' : `${first.label} (${first.reason})`;
  const what = first?.by === 'daemon' ? 'strata' : 'by operators';
  const list = '; list them: upwave holds';
  if (cutsIdle && waiting === 0) return ['held', `${held.length} ${what}${wait}${list}`];
  const words = `${held.length} ${what}${wait}: ${such} and ${held.length - 1} more`;
  const isOver = endedAt !== null || held.length > releasedMax || held.some(({ by }) => by !== 'daemon');
  const labels = isOver ? [] : held.map(({ label }) => quoteArgument(label));
  const release = isOver ? '' : `; upwave release ${labels.join(' ')}`;
  return ['held', `${words}${release}${list}`];
}

function rollbackParts(status: RolloutStatus): readonly Line[] {
  const { rollbackOf, rollbackId, reason, reasonKind } = status;
  const by = reasonKind === 'rollbackEnded' ? reason : `by ${rollbackId}`;
  return [
    ...(rollbackOf === null ? [] : [['back', `the rollback of ${rollbackOf}`] as const]),
    ...(rollbackId === null ? [] : [['back', `${by}: upwave status ${quoteArgument(rollbackId)}`] as const]),
  ];
}

/** Blockers that other lines show. */
const hasOwnLines: ReadonlySet<BlockerKind> = new Set([
  'planApproval',
  'waveApproval',
  'held',
  'paused',
  'buildHeld',
  'stratumHeld',
]);

function waitParts({ api, blockers }: RolloutStatus, now: EpochMs): readonly Line[] {
  const current = api?.outage ?? null;
  const outage: readonly Line[] = current === null ? [] : [['waits', outageText(current, now)]];
  const others = blockers
    .filter(({ kind }) => !hasOwnLines.has(kind))
    .map((each): Line => ['waits', blockerUntilText(each, (at) => showZoned(at, now))]);
  return [...outage, ...others];
}

function windowParts({ window, endedAt }: RolloutStatus, now: EpochMs): readonly Line[] {
  return window === null || endedAt !== null ? [] : [['window', windowText(window, now)]];
}
