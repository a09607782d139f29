import { toPrintable } from '../base/printable.ts';
import type { EpochMs } from '../base/time.ts';
import type { HeldThings } from '../orchestrator/operations.ts';
import type { ConsoleOutput } from './console-output.ts';
import { type DaemonTarget, withDaemon } from './daemon-target.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { printJson } from './print-json.ts';
import { showInstant } from './show-instant.ts';

/** `upwave holds`: everything that is held, until somebody releases it. */
export async function holdsCommand(
  options: DaemonTarget & { readonly json: boolean },
  output: ConsoleOutput,
): Promise<ExitCode> {
  const held = await withDaemon(options, (client) => client.listHolds());
  if (options.json) printJson(output, held);
  else output.out.write(`${renderHolds(held, Date.now())}\n`);
  return exitCodes.done;
}

/** What is held, by whom, since when and why: a line each. */
export function renderHolds({ builds, collectors, strata }: HeldThings, now: EpochMs): string {
  const things = [
    ...builds.map((hold) => ({ ...hold, what: `build ${hold.build}` })),
    ...collectors.map((hold) => ({ ...hold, what: collectorWords(hold) })),
    ...strata.map((hold) => ({ ...hold, what: stratumWords(hold) })),
  ];
  if (things.length === 0) return 'nothing is held';
  return things
    .map(({ what, by, at, reason }) => {
      const why = reason === '' ? '' : `: ${reason}`;
      return toPrintable(`${what}   by ${by}, since ${showInstant(at, now)}${why}`);
    })
    .join('\n');
}

function collectorWords({ collectorId, name }: HeldThings['collectors'][number]): string {
  return name === undefined ? `collector ${collectorId}` : `collector ${collectorId} ${name}`;
}

function stratumWords({ label, policy, rolloutId, isEnded }: HeldThings['strata'][number]): string {
  return `stratum ${label} of ${policy} (${rolloutId}${isEnded ? ', ended' : ''})`;
}
