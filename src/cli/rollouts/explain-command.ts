import { toPrintable } from '../../base/safe-text.ts';
import type { EpochMs } from '../../base/time.ts';
import type { AttemptStatus, Explanation, PastUpgrade } from '../../contract/admin/collector-explanation.ts';
import type { ExplainResult } from '../../orchestrator/operations/operations.ts';
import { seenText } from '../../rollout/messages/explanations.ts';
import { stateText } from '../../rollout/messages/sentences.ts';
import { sharesText } from '../../rollout/messages/stop-causes.ts';
import { formatAttributes } from '../../rollout/model/attributes.ts';
import { isEnd } from '../../rollout/model/upgrade.ts';
import { type ConsoleOutput, printAnswer } from '../shell/console-output.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';
import type { ExitCode } from '../shell/exit-codes.ts';
import { showSecond, showZoned } from '../shell/show-instant.ts';
import { fitLines, widest } from './fit-lines.ts';

/** `upwave explain <collector>`: why it is not upgraded now, and when it will be, for every policy. */
export async function explainCommand(
  collector: string,
  options: DaemonTarget,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const explained = await withDaemon(options, (client) => client.explain(collector));
  return printAnswer(output, options, explained, () =>
    renderExplanation(explained, Date.now(), output.columns),
  );
}

type Explained = Omit<Extract<ExplainResult, { kind: 'explained' }>, 'kind'>;

/**
 * Describes the collector, its state in each policy with the reason and its end, and its earlier upgrades.
 * @param columns the width of the terminal; absent where the output is no terminal
 */
export function renderExplanation(
  { collectorId, collectorName, build, seen, attributes, explanations, history }: Explained,
  now: EpochMs,
  columns?: number,
): string {
  const labelColumns = widest(explanations.map(({ policy }) => policy)) + 4;
  const line = (label: string, text: string) =>
    fitLines(`  ${label}`, [text], { width: columns, labelColumns });
  return [
    toPrintable(`collector ${collectorId} ${collectorName}   build ${build || 'unknown'}`),
    ...(seen === null ? [] : [toPrintable(`  ${seenText(seen, now, (at) => showSecond(at, now))}`)]),
    ...explanations.flatMap((each) => [
      ...line(each.policy, `${placeOf(each)}${why(each, now)}`),
      ...details(each, now).flatMap((text) => line('', text)),
    ]),
    ...(attributes.length === 0 ? [] : ['attributes']),
    ...attributes.map((each) => toPrintable(`  ${formatAttributes([each])}`)),
    ...(history.length === 0 ? [] : ['history']),
    ...history.map((each) => toPrintable(`  ${pastText(each, now)}`)),
  ].join('\n');
}

/** Its target, its stratum, its held group, and its attempts. */
function details({ target, stratum, heldGroup, shared, attempts }: Explanation, now: EpochMs): string[] {
  const facts = [target === null ? '' : `to ${target}`, stratum === null ? '' : `stratum ${stratum}`];
  const line = facts.filter((fact) => fact !== '').join(', ');
  const shares = shared === null ? '' : sharesText(shared);
  const lines = [line, heldGroup === null ? '' : `held group ${heldGroup}`, shares].filter(
    (each) => each !== '',
  );
  return [...lines, ...attempts.map((each, index) => attemptText(each, index, now))];
}

function attemptText(attempt: AttemptStatus, index: number, now: EpochMs): string {
  const { taskId, startedAt, endedAt, state, reason } = attempt;
  const task = taskId === null ? 'no task' : `task ${taskId}`;
  return `attempt ${index + 1}: ${task}, ${showZoned(startedAt, now, endedAt)}, ${stateText(state)}${reason === '' ? '' : `: ${reason}`}`;
}

function pastText(
  { rollout, kind, fromBuild, toBuild, state, at, reason }: PastUpgrade,
  now: EpochMs,
): string {
  const when = at === null ? '' : ` ${showZoned(at, now)}`;
  const what = kind === 'rollback' ? 'back ' : '';
  return `${rollout}  ${what}${fromBuild} → ${toBuild}  ${stateText(state)}${when}${reason === '' ? '' : `: ${reason}`}`;
}

function placeOf({ rollout, wave, state }: Explanation): string {
  // The reason of an end names the state already.
  const stage = state === null || isEnd(state) ? null : state;
  const where = [rollout, wave === null ? null : `wave ${wave}`, stage].filter((part) => part !== null);
  return where.length === 0 ? '' : `${where.join(', ')}: `;
}

function why({ reason, until }: Explanation, now: EpochMs): string {
  return until === null ? reason : `${reason}, until ${showZoned(until, now)}`;
}
