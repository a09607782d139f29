import type { ReportFormat } from '../../rollout/report/write-report.ts';
import { type ConsoleOutput, printJson } from '../shell/console-output.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { writeLines, writeLinesToFile } from '../shell/write-lines.ts';
import { findRollout } from './choose-rollout.ts';

export interface ReportOptions extends DaemonTarget {
  readonly format: ReportFormat;
  /** The file to write; default: stdout. */
  readonly out?: string;
}

/** `upwave report [rollout]`: writes what happened in a rollout, as a file for people. */
export async function reportCommand(
  named: string | undefined,
  options: ReportOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const { format, out } = options;
  const { id, report } = await withDaemon(options, async (client) => {
    const chosen = await findRollout(client, named, 'read');
    return { id: chosen.id, report: await client.report(chosen.id, format) };
  });
  const lines = report.trimEnd().split('\n');
  if (out !== undefined) await writeLinesToFile(out, lines, { reader: 'all', err: output.err });
  else if (!options.json) await writeLines(output.out, lines);
  if (options.json) printJson(output, { rollout: id, format, ...(out === undefined ? { report } : { out }) });
  return exitCodes.done;
}
