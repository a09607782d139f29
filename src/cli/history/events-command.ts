import type { EpochMs } from '../../base/time.ts';
import type { RolloutEventBody } from '../../contract/admin/rollout-event.ts';
import type { EventFilter } from '../../orchestrator/operations/operations.ts';
import { starterText } from '../../rollout/messages/sentences.ts';
import { findRollout } from '../rollouts/choose-rollout.ts';
import { fitLines, widest } from '../rollouts/fit-lines.ts';
import { type ConsoleOutput, printAnswer } from '../shell/console-output.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';
import type { ExitCode } from '../shell/exit-codes.ts';
import { showInstant } from '../shell/show-instant.ts';

export interface EventsOptions extends DaemonTarget, EventFilter {
  readonly limit: number;
}

/** `upwave events [rollout]`: what happened, newest first: who, what, why, when. */
export async function eventsCommand(
  named: string | undefined,
  options: EventsOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const { limit, since, type, collector, by } = options;
  const { id, events } = await withDaemon(options, async (client) => {
    const chosen = await findRollout(client, named, 'read');
    return {
      id: chosen.id,
      events: await client.readEvents(chosen.id, { limit, since, type, collector, by }),
    };
  });
  return printAnswer(output, options, { rollout: id, events }, () => renderEvents(events, Date.now()));
}

/** One line for each event: when, what, which collector, the actor unless it is the daemon, and why. */
export function renderEvents(events: readonly RolloutEventBody[], now: EpochMs): string {
  if (events.length === 0) return 'no events match';
  return eventLines(events, now, undefined).flat().join('\n');
}

/** The lines of each event. @param width columns to wrap at; undefined: one line for each event */
export function eventLines(
  events: readonly RolloutEventBody[],
  now: EpochMs,
  width: number | undefined,
): ReadonlyArray<readonly string[]> {
  const nameWidth = widest(events.map(({ event }) => event));
  return events.map(({ at, event, wave, collectorId, collectorName, by, reason }) => {
    const about = [
      collectorId === undefined ? undefined : `${collectorId} ${collectorName ?? ''}`.trim(),
      wave === undefined ? undefined : `wave ${wave}`,
      by === 'daemon' ? undefined : `by ${starterText(by)}`,
    ].filter((part) => part !== undefined);
    const words = [about.join(', '), reason].filter((part) => part !== '').join(': ');
    const label = `${showInstant(at, now)}  ${event.padEnd(nameWidth)} `;
    return fitLines(label, [words], { width, labelColumns: label.length + 1 });
  });
}
