import { renderAudit } from '../../../src/cli/history/audit-command.ts';
import { renderEvents } from '../../../src/cli/history/events-command.ts';
import { makeLogger } from '../../../src/observability/logger.ts';
import { makeEventSink } from '../../../src/observability/make-event-sink.ts';
import type { DaemonNote } from '../../../src/orchestrator/ports/event-sink.ts';
import type { RolloutEvent } from '../../../src/rollout/model/events.ts';
import { noteDocs, programEventDocs } from './log-event-docs.ts';
import { auditEventDocs, type EventDoc, rolloutEventDocs } from './rollout-event-docs.ts';

// A local time, because the commands print the local time of their machine.
const at = new Date(2026, 10, 22, 23, 14, 5).getTime();

const logged: string[] = [];
const logger = makeLogger({
  level: 'debug',
  secrets: [],
  destination: { write: (line) => void logged.push(line) },
});
const sink = makeEventSink({ logger, metrics: { countEvent: () => undefined, countNote: () => undefined } });

/** The last line of the log, as another machine would write it. */
function lastLine(): string {
  const line = logged.at(-1) ?? '';
  return line
    .trim()
    .replace(
      /"time":"[^"]*","pid":\d+,"hostname":"[^"]*"/,
      '"time":"2026-11-22T22:14:05.000Z","pid":1,"hostname":"upwave-1"',
    );
}

/** Every event of a rollout, entry of the audit, and line of the log, in Markdown. */
export function eventsReference(): string {
  const audit = Object.entries(auditEventDocs);
  const entries = audit.map(([event, { example }]) => ({ at, by: 'ann', ...example, event }));
  return [
    '## Events of a rollout',
    '`upwave events` prints them, `GET /rollouts/{id}/events` answers them as [`RolloutEvent`](http-api.md#rolloutevent), and the log has each as a line. Every event has `at`, `event`, `policy`, `rollout`, `reason` and `by`.',
    ...Object.entries(rolloutEventDocs).flatMap(([event, doc]) =>
      doc === null ? [] : [rolloutEventText(event, doc)],
    ),
    '## Events of the audit',
    '`upwave audit` prints them, and `GET /audit` answers them as [`AuditEntry`](http-api.md#auditentry): verbs of operators over all rollouts, holds and stops, also of the daemon, reloads, and losses of data. Every entry has `at`, `event`, `subject`, `by` and `reason`.',
    audit.map(([event, { when }]) => `- \`${event}\`: ${when}`).join('\n'),
    block(renderAudit(entries as unknown as Parameters<typeof renderAudit>[0], at)),
    '## Events of the log only',
    'These belong to no rollout, and `upwave events` does not show them. Their reasons are shortened here.',
    ...Object.entries(noteDocs).map(([event, doc]) => noteText(event, doc)),
    ...Object.entries(programEventDocs).map(([event, { level, when, example }]) => {
      logger.write(level, { event, ...example });
      return entryText(event, when, level, lastLine());
    }),
  ].join('\n\n');
}

function rolloutEventText(name: string, { when, example }: EventDoc<object>): string {
  const names = { policy: 'production', rollout: 'production-20261122-1', by: 'daemon' };
  const event = { at, ...names, ...example, event: name } as RolloutEvent;
  sink.report(event);
  const own = Object.keys(example).filter((key) => !['reason', 'by'].includes(key));
  const fields = own.length === 0 ? '' : ` May also have ${own.map((key) => `\`${key}\``).join(', ')}.`;
  return entryText(name, `${when}${fields}`, levelOf(lastLine()), renderEvents([event], at));
}

function noteText(name: string, { when, example }: EventDoc<object>): string {
  sink.note({ event: name, ...example } as unknown as DaemonNote);
  const line = lastLine();
  return entryText(name, when, levelOf(line), line, name in rolloutEventDocs);
}

const levelOf = (line: string) => String((JSON.parse(line) as { level: unknown }).level);

function entryText(event: string, text: string, level: string, example: string, again = false): string {
  return [
    `### \`${event}\`${again ? ' in the log' : ''}`,
    `${text} Level \`${level}\`.`,
    block(example),
  ].join('\n\n');
}

const block = (text: string) => ['```', text, '```'].join('\n');
