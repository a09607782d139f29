import { toPrintable } from '../../base/safe-text.ts';
import type { EpochMs } from '../../base/time.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { WaveStatus } from '../../contract/admin/status-parts.ts';
import { shortEtaText } from '../../rollout/messages/eta-texts.ts';
import { headlineWords } from '../../rollout/messages/need-texts.ts';
import { endStates } from '../../rollout/model/upgrade.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { showComing } from '../shell/show-instant.ts';
import type { ScreenActions } from '../status/open-screen.ts';
import { rowOf } from '../status/screen-actions.ts';

/** Shows the progress of rollouts: a live screen at a terminal, else a line for each change. */
export interface Progress {
  show(statuses: readonly RolloutStatus[], now: EpochMs): void;
  stop(): void;
}

/** Makes the progress that fits the output. @param actions what the keys of a screen do; without them, there is no screen */
export async function makeProgress(output: ConsoleOutput, actions?: ScreenActions): Promise<Progress> {
  if (!output.isLive || actions === undefined) return makeLines(output);
  const { openScreen } = await import('../status/open-screen.ts');
  const screen = openScreen(output, actions);
  return {
    show: (statuses) => screen.show({ rows: statuses.map(rowOf), notes: [] }),
    stop: screen.close,
  };
}

// Without a terminal, a line each second would only fill a log.
const linesEveryMs = 10_000;

function makeLines(output: ConsoleOutput): Progress {
  const last = new Map<string, { readonly stage: string; readonly at: EpochMs }>();
  const show = (status: RolloutStatus, now: EpochMs): void => {
    const stage = `${status.headline.kind}/${status.waves.map(({ state }) => state).join()}`;
    const before = last.get(status.id);
    if (before?.stage === stage && now - before.at < linesEveryMs) return;
    last.set(status.id, { stage, at: now });
    const words = status.waves.map(
      (wave) => `${toPrintable(wave.name)} ${endedOf(wave)}/${wave.size} ${stageText(wave)}`,
    );
    const end = status.eta === null ? '' : shortEtaText(status.eta, now, (at) => showComing(at, now));
    output.out.write(`${status.id}  ${headlineWords(status)}  ${words.join('  ')}  ${end}\n`);
  };
  return {
    show: (statuses, now) => {
      for (const status of statuses) show(status, now);
    },
    stop: () => undefined,
  };
}

function stageText({ state }: Pick<WaveStatus, 'state'>): string {
  return state === 'awaitingApproval' ? 'waits for approval' : state;
}

function endedOf({ counts }: Pick<WaveStatus, 'counts'>): number {
  return endStates.reduce((sum, state) => sum + counts[state], 0);
}
