import { toPrintable } from '../base/printable.ts';
import type { EpochMs } from '../base/time.ts';
import type { ExplainResult, Explanation } from '../orchestrator/operations.ts';
import { isEnd } from '../rollout/upgrade.ts';
import type { ConsoleOutput } from './console-output.ts';
import { type DaemonTarget, withDaemon } from './daemon-target.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { printJson } from './print-json.ts';
import { showInstant } from './show-instant.ts';

/** `upwave explain <collector>`: why not now, and when, for every policy. */
export async function explainCommand(
  collector: string,
  options: DaemonTarget & { readonly json: boolean },
  output: ConsoleOutput,
): Promise<ExitCode> {
  const explained = await withDaemon(options, (client) => client.explain(collector));
  if (options.json) printJson(output, explained);
  else output.out.write(`${renderExplanation(explained, Date.now())}\n`);
  return exitCodes.done;
}

type Explained = Omit<Extract<ExplainResult, { kind: 'explained' }>, 'kind'>;

/** The collector, and a line for each policy: where it stands, why, and until when. */
export function renderExplanation(
  { collectorId, collectorName, build, explanations }: Explained,
  now: EpochMs,
): string {
  const width = Math.max(0, ...explanations.map(({ policy }) => policy.length));
  return [
    `collector ${collectorId} ${collectorName}   build ${build || 'unknown'}`,
    ...explanations.map((each) => `  ${each.policy.padEnd(width)}  ${standing(each)}${why(each, now)}`),
  ]
    .map(toPrintable)
    .join('\n');
}

function standing({ rollout, wave, state }: Explanation): string {
  // The reason of an end names it.
  const stage = state === null || isEnd(state) ? null : state;
  const where = [rollout, wave === null ? null : `wave ${wave}`, stage].filter((part) => part !== null);
  return where.length === 0 ? '' : `${where.join(', ')}: `;
}

function why({ reason, until }: Explanation, now: EpochMs): string {
  return until === null ? reason : `${reason}, until ${showInstant(until, now)}`;
}
