import type { EpochMs } from '../../base/time.ts';
import type { RolloutEventBody } from '../../contract/admin/rollout-event.ts';
import { eventLevels } from '../../observability/make-event-sink.ts';
import type { RolloutEventName } from '../../rollout/model/events.ts';
import { eventLines } from '../history/events-command.ts';

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

// What needs a person is wrapped, to show its reason. Any other event has one line.
const wrappedLinesMax = 3;

/** The events that fit, newest first. Without room, plain steps are dropped first, and what needs a person last. */
export function fitEvents(
  newestFirst: readonly RolloutEventBody[],
  now: EpochMs,
  { columns, rows }: ScreenSize,
): readonly string[] {
  const wrapped = eventLines(newestFirst, now, columns);
  const whole = eventLines(newestFirst, now, undefined);
  const ranked = newestFirst.map((event, index) => {
    const rank = rankOf(event);
    const lines = rank === 0 ? wrapped[index]?.slice(0, wrappedLinesMax) : whole[index];
    return { index, rank, lines: lines ?? [] };
  });
  const kept: typeof ranked = [];
  let left = rows;
  for (const each of ranked.sort((a, b) => a.rank - b.rank || a.index - b.index)) {
    if (each.lines.length > left) break;
    left -= each.lines.length;
    kept.push(each);
  }
  return kept.sort((a, b) => a.index - b.index).flatMap(({ lines }) => lines);
}

/** 0: a failure, a hold, or another event that needs a person. 2: a plain step. */
function rankOf({ event }: RolloutEventBody): number {
  const level = eventLevels[event as RolloutEventName];
  if (level === 'error' || event === 'rollout.paused' || event.endsWith('.awaitingApproval')) return 0;
  return level === 'debug' ? 2 : 1;
}
