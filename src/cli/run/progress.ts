import { MultiBar, type SingleBar } from 'cli-progress';
import { toPrintable } from '../../base/safe-text.ts';
import { type EpochMs, formatDuration } from '../../base/time.ts';
import { endStates, stateWords } from '../../rollout/model/upgrade.ts';
import type { RolloutStatus, WaveStatus } from '../../rollout/status/status.ts';
import { shortEtaWords } from '../rollouts/eta-words.ts';
import { outageWords } from '../rollouts/waiting-words.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { showInstant } from '../shell/show-instant.ts';

/** Shows rollouts as they go: a bar for each wave where a person watches, else a line when something changed. */
export interface Progress {
  show(status: RolloutStatus, now: EpochMs): void;
  stop(): void;
}

/** Makes the progress that fits the output. */
export function makeProgress(output: ConsoleOutput): Progress {
  return output.isLive ? makeBars(output) : makeLines(output);
}

function makeBars(output: ConsoleOutput): Progress {
  const bars = new MultiBar({
    format: ' {wave} {bar} {value}/{total}  {words}',
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 24,
    hideCursor: true,
    stopOnComplete: false,
    linewrap: false,
    stream: output.terminal ?? output.out,
  });
  const waves = new Map<string, SingleBar>();
  return {
    show: (status, now) => {
      for (const wave of status.waves) {
        const key = `${status.id}/${wave.name}`;
        const payload = { wave: toPrintable(wave.name).padEnd(10), words: waveWords(status, wave, now) };
        const bar = waves.get(key) ?? bars.create(Math.max(1, wave.size), 0, payload);
        waves.set(key, bar);
        bar.update(wave.size === 0 ? 1 : endedOf(wave), payload);
      }
    },
    stop: () => bars.stop(),
  };
}

// Where nobody watches, a line each second would only fill a log.
const linesEveryMs = 10_000;

function makeLines(output: ConsoleOutput): Progress {
  const last = new Map<string, { readonly stage: string; readonly at: EpochMs }>();
  return {
    show: (status, now) => {
      const stage = `${status.headline.kind}/${status.waves.map(({ state }) => state).join()}`;
      const before = last.get(status.id);
      if (before?.stage === stage && now - before.at < linesEveryMs) return;
      last.set(status.id, { stage, at: now });
      const words = status.waves.map(
        (wave) => `${toPrintable(wave.name)} ${endedOf(wave)}/${wave.size} ${stageWords(wave)}`,
      );
      output.out.write(
        `${status.id}  ${stateWords(status.headline.kind)}  ${words.join('  ')}  ${endWords(status, now)}\n`,
      );
    },
    stop: () => undefined,
  };
}

/** What a wave does, as its bar says it. */
export function waveWords(status: RolloutStatus, wave: WaveStatus, now: EpochMs): string {
  const { counts } = wave;
  const running = counts.starting + counts.upgrading + counts.verifying;
  const failed = counts.failed + counts.timedOut + counts.unconfirmed;
  const isWaiting = wave.state === 'waiting' || wave.state === 'awaitingApproval';
  const waits = wave.waits === null ? 'waits' : `waits: ${toPrintable(wave.waits)}`;
  const words: string[] = [isWaiting ? waits : stageWords(wave)];
  if (wave.state === 'soaking' && wave.soakEndsAt !== null) {
    words.push(`${formatDuration(Math.max(0, wave.soakEndsAt - now))} to go`);
  }
  // They have a slot and no task yet: a heartbeat or the request rate is waited for.
  if (counts.queued > 0) words.push(`${counts.queued} to start`);
  if (running > 0) words.push(`${running} running`);
  if (counts.retrying > 0) words.push(`${counts.retrying} to retry`);
  if (counts.deferred > 0) words.push(`${counts.deferred} deferred`);
  if (wave.setAside > 0) words.push(`${wave.setAside} set aside`);
  if (failed > 0) words.push(`${failed} failed`);
  const isOpen = wave.state === 'open' || wave.state === 'soaking';
  if (wave.state === 'open' && running + counts.queued === 0) words.push(...blockerWords(status, now));
  return [...words, isOpen ? endWords(status, now) : ''].filter((word) => word !== '').join('  ');
}

function stageWords({ state }: Pick<WaveStatus, 'state'>): string {
  return state === 'awaitingApproval' ? 'waits for approval' : state;
}

/** Why an open wave stands still: the service, or what has an end: a closed window, as a rule. */
function blockerWords({ blockers, api }: RolloutStatus, now: EpochMs): readonly string[] {
  if (api !== null && api.standstill !== null) return [outageWords(api.standstill, now)];
  const blocker = blockers.find(({ until }) => until !== null);
  if (blocker === undefined || blocker.until === null) return [];
  return [`${toPrintable(blocker.reason)}, until ${showInstant(blocker.until, now)}`];
}

function endWords({ eta }: RolloutStatus, now: EpochMs): string {
  return eta === null ? '' : shortEtaWords(eta, now);
}

/** How many collectors of a wave have ended, well or not. */
export function endedOf({ counts }: Pick<WaveStatus, 'counts'>): number {
  return endStates.reduce((sum, state) => sum + counts[state], 0);
}
