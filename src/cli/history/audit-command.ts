import { toPrintable } from '../../base/safe-text.ts';
import type { EpochMs } from '../../base/time.ts';
import { auditEvents } from '../../base/vocabulary.ts';
import type { AuditEntry } from '../../contract/admin/holds.ts';
import { isOfType } from '../../orchestrator/operations/event-filters.ts';
import type { AuditFilter } from '../../orchestrator/operations/operations.ts';
import { auditActs } from '../../rollout/status/audit-acts.ts';
import { widest } from '../rollouts/fit-lines.ts';
import { UsageFailure } from '../shell/command.ts';
import { type ConsoleOutput, printAnswer } from '../shell/console-output.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';
import type { ExitCode } from '../shell/exit-codes.ts';
import { showSecond } from '../shell/show-instant.ts';

export interface AuditOptions extends DaemonTarget, AuditFilter {
  readonly limit: number;
}

/** `upwave audit`: who did what, when and why, over all rollouts, newest first. */
export async function auditCommand(options: AuditOptions, output: ConsoleOutput): Promise<ExitCode> {
  const { limit, since, type, policy, by } = options;
  if (type !== undefined && !auditEvents.some((event) => isOfType(event, type)))
    throw new UsageFailure(
      `nothing in the audit is of type ${type}; its events are ${auditEvents.join(', ')}`,
    );
  const entries = await withDaemon(options, (client) => client.readAudit({ limit, since, type, policy, by }));
  return printAnswer(output, options, { entries }, () => renderAudit(auditActs(entries), Date.now()));
}

/** A line each: when, who, what, and why. */
export function renderAudit(entries: readonly AuditEntry[], now: EpochMs): string {
  if (entries.length === 0) return 'no audit entries';
  const times = entries.map(({ at }) => showSecond(at, now));
  const timeWidth = widest(times);
  const byWidth = Math.max(...entries.map(({ by }) => toPrintable(by).length));
  const eventWidth = Math.max(...entries.map(({ event }) => event.length));
  return entries
    .map(({ by, event, subject, reason }, index) => {
      const why = reason === '' ? '' : `: ${reason}`;
      const who = toPrintable(by).padEnd(byWidth);
      const when = (times[index] ?? '').padEnd(timeWidth);
      return toPrintable(`${when}  ${who}  ${event.padEnd(eventWidth)}  ${subject}${why}`);
    })
    .join('\n');
}
