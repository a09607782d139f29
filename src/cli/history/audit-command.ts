import { toPrintable } from '../../base/safe-text.ts';
import type { EpochMs } from '../../base/time.ts';
import type { AuditEntry } from '../../contract/admin/holds.ts';
import { type ConsoleOutput, printAnswer } from '../shell/console-output.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';
import type { ExitCode } from '../shell/exit-codes.ts';
import { showInstant } from '../shell/show-instant.ts';

export interface AuditOptions extends DaemonTarget {
  readonly since?: EpochMs;
  readonly by?: string;
  readonly limit: number;
}

// The maximum of one answer. The filters apply to these entries.
const entriesReadMax = 1_000;

/** `upwave audit`: who did what, when and why, over all rollouts, newest first. */
export async function auditCommand(options: AuditOptions, output: ConsoleOutput): Promise<ExitCode> {
  const { since, by, limit } = options;
  const isFiltered = since !== undefined || by !== undefined;
  const read = await withDaemon(options, (client) => client.readAudit(isFiltered ? entriesReadMax : limit));
  const entries = read
    .filter((entry) => (since === undefined || entry.at >= since) && (by === undefined || entry.by === by))
    .slice(0, limit);
  return printAnswer(output, options, { entries }, () => renderAudit(entries, Date.now()));
}

/** A line each: when, who, what, and why. */
export function renderAudit(entries: readonly AuditEntry[], now: EpochMs): string {
  if (entries.length === 0) return 'no audit entries';
  const byWidth = Math.max(...entries.map(({ by }) => toPrintable(by).length));
  const eventWidth = Math.max(...entries.map(({ event }) => event.length));
  return entries
    .map(({ at, by, event, subject, reason }) => {
      const why = reason === '' ? '' : `: ${reason}`;
      const who = toPrintable(by).padEnd(byWidth);
      return toPrintable(`${showInstant(at, now)}  ${who}  ${event.padEnd(eventWidth)}  ${subject}${why}`);
    })
    .join('\n');
}
