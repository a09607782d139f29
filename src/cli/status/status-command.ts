import { toPrintable } from '../../base/safe-text.ts';
import type { EpochMs } from '../../base/time.ts';
import { sleepForReal } from '../../base/waiting.ts';
import type { PolicyStatuses } from '../../contract/admin/policies.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { quoteArgument } from '../../rollout/status/command-for.ts';
import { chooseRollout, listRollouts } from '../rollouts/choose-rollout.ts';
import { usualWidth } from '../rollouts/fit-lines.ts';
import { type PolicyRow, policyRows, renderOverview } from '../rollouts/render-overview.ts';
import { renderPolicies } from '../rollouts/render-policies.ts';
import { renderStatus, usualRows } from '../rollouts/render-status.ts';
import { type ConsoleOutput, printJson } from '../shell/console-output.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../shell/exit-codes.ts';
import { stopSignal } from '../shell/stop-signal.ts';
import { askDaemon, rowOf } from './screen-actions.ts';
import { watchStatus } from './watch-status.ts';

export interface StatusOptions extends DaemonTarget {
  readonly watch: boolean;
}

interface StatusReading {
  readonly rollouts: readonly RolloutStatus[];
  /** All policies; where one was named, only if it waits for an operator; none where a rollout was named. */
  readonly rows: readonly PolicyRow[];
  readonly policyStatuses: PolicyStatuses;
}

/** `upwave status [rollout]`: one rollout at a glance, or one line for each policy, those that need a person first. */
export async function statusCommand(
  named: string | undefined,
  options: StatusOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  if (!options.watch) return showOnce(await readStatus(named, options), options, output);
  const stop = stopSignal();
  let exitCode: ExitCode = exitCodes.done;
  const view = await openView(options, output);
  const show = (reading: StatusReading): void => {
    exitCode = exitCodeOfReading(reading);
    view.show(reading);
  };
  const read = () => readStatus(named, options);
  try {
    await watchStatus({ read, show, trouble: view.trouble, clock: Date, sleep: sleepForReal }, stop);
  } finally {
    view.close();
  }
  return exitCode;
}

/** At a terminal, a live screen. Elsewhere it prints each reading, and reports an outage once. */
async function openView(options: StatusOptions, output: ConsoleOutput) {
  if (!output.isLive || options.json) {
    let written = '';
    return {
      show: (reading: StatusReading): void => {
        written = '';
        showOnce(reading, options, output);
      },
      trouble: (words: string): void => {
        if (words !== written) output.err.write(`${words}\n`);
        written = words;
      },
      close: (): void => undefined,
    };
  }
  const { openScreen } = await import('./open-screen.ts');
  const screen = openScreen(output, askDaemon(options));
  return {
    show: ({ rollouts, rows, policyStatuses }: StatusReading): void => {
      const notes = renderPolicies(policyStatuses, Date.now(), {
        onlyTrouble: rollouts.length > 0 || hasNeed(rows),
      });
      screen.show({ rows: rows.length > 0 ? rows : rollouts.map(rowOf), notes });
    },
    trouble: screen.trouble,
    close: screen.close,
  };
}

function readStatus(named: string | undefined, options: StatusOptions): Promise<StatusReading> {
  return withDaemon(options, async (client) => {
    const [all, policyStatuses] = await Promise.all([listRollouts(client, named), client.listPolicies()]);
    if (named === undefined) {
      const rows = policyRows(all, policyStatuses);
      return { rollouts: rows.flatMap(({ status }) => status ?? []), rows, policyStatuses };
    }
    const isMeant = ({ id, policy }: { readonly id?: string; readonly policy: string }) =>
      id === named || policy === named;
    const isWithoutRollout = !all.some(isMeant) && policyStatuses.policies.some(isMeant);
    const rollouts = isWithoutRollout ? [] : [chooseRollout(all, named)];
    const policies = policyStatuses.policies.filter(
      ({ policy }) => policy === (rollouts[0]?.policy ?? named),
    );
    const isPolicy = policies.some(({ policy }) => policy === named);
    const rows = isPolicy
      ? policyRows(rollouts, { policies }).filter(({ needs }) => needs !== undefined)
      : [];
    return { rollouts, rows, policyStatuses: { ...policyStatuses, policies } };
  });
}

function showOnce(reading: StatusReading, { json, watch }: StatusOptions, output: ConsoleOutput): ExitCode {
  const answer = { rollouts: reading.rollouts, ...reading.policyStatuses };
  if (json && watch) output.out.write(`${toPrintable(JSON.stringify(answer))}\n`);
  else if (json) printJson(output, answer);
  else output.out.write(`${renderReading(reading, Date.now(), output)}\n`);
  return exitCodeOfReading(reading);
}

function exitCodeOfReading({ rollouts, rows, policyStatuses }: StatusReading): ExitCode {
  const exitCode = exitCodeOf(rollouts);
  if (exitCode === exitCodes.heldOrNeedsAPerson || hasNeed(rows)) return exitCodes.heldOrNeedsAPerson;
  const isScanFailed = policyStatuses.policies.some(({ lastScan }) => lastScan?.outcome === 'failed');
  return policyStatuses.notReady !== undefined || isScanFailed ? exitCodes.unreachable : exitCode;
}

function hasNeed(rows: readonly PolicyRow[]): boolean {
  return rows.some(({ needs }) => needs !== undefined);
}

/** The named or only rollout at a glance; else one line for each policy. */
function renderReading(
  { rollouts, rows, policyStatuses }: StatusReading,
  now: EpochMs,
  output: ConsoleOutput,
): string {
  const isOverview = rows.length > 1 || hasNeed(rows);
  const isRunning = rollouts.some(({ endedAt }) => endedAt === null);
  const notes = renderPolicies(policyStatuses, now, { onlyTrouble: isOverview || isRunning }).join('\n');
  if (isOverview) {
    const first = rows[0]?.policy ?? '';
    const hint = output.paint('dim', `more: upwave status ${quoteArgument(first)}`);
    const overview = renderOverview(rows, now, output).flat().join('\n');
    return [...(notes === '' ? [] : [notes]), overview, ...(rows.length > 1 ? [hint] : [])].join('\n\n');
  }
  const style = { ...output, rows: usualRows - rowsOf(notes, output.columns) };
  const glances = rollouts.map((status) => renderStatus(status, now, style));
  return [...(glances.length === 0 ? ['no rollout yet'] : glances), ...(notes === '' ? [] : [notes])].join(
    '\n\n',
  );
}

/** Rows of the terminal that the notes take, with the blank one before them. */
function rowsOf(notes: string, columns = usualWidth): number {
  if (notes === '') return 0;
  return notes.split('\n').reduce((sum, { length }) => sum + Math.ceil(length / columns), 1);
}
