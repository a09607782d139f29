import { errorCodeOf } from '../../base/node-errors.ts';
import type { RetryWindow } from '../../base/retry-window.ts';
import { toPrintable } from '../../base/safe-text.ts';
import { writeAddress } from '../../base/url-authority.ts';
import { sleepForReal } from '../../base/waiting.ts';
import { accountConfigOf } from '../../config/account-configs.ts';
import type { AccountConfig, Config } from '../../config/config.ts';
import { findRisks } from '../../config/show/find-risks.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { type Daemon, makeDaemon } from '../../daemon/daemon.ts';
import { makeLogger } from '../../observability/logger.ts';
import { selectsNobody } from '../../rollout/messages/exclusions.ts';
import { type ScanResult, scanText } from '../../rollout/messages/scans.ts';
import { upgradeText } from '../../rollout/messages/upgrade-reasons.ts';
import { failedStates } from '../../rollout/model/upgrade.ts';
import { renderStatus, type StatusStyle } from '../rollouts/render-status.ts';
import { chooseRedis, secretsOf } from '../shell/choose-redis.ts';
import { CommandFailure, type CommandOptions, UsageFailure } from '../shell/command.ts';
import { type ConsoleOutput, printJson } from '../shell/console-output.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../shell/exit-codes.ts';
import { openConfig, policyOf } from '../shell/open-config.ts';
import { openReadWindow } from '../shell/read-window.ts';
import { noAnswer } from '../shell/service-notes.ts';
import { stopSignal } from '../shell/stop-signal.ts';
import { readVersion } from '../shell/version.ts';
import { embeddedDataDir, withRedis } from '../shell/with-redis.ts';
import { askOperations } from '../status/screen-actions.ts';
import { closeInTime } from './close-in-time.ts';
import { followRollouts } from './follow-rollouts.ts';
import { restOf, restText } from './idle-reason.ts';
import { limitHeapGrowth } from './limit-heap-growth.ts';
import { type LogDestination, noLog, openLogFile } from './log-file.ts';
import { makeProgress } from './progress.ts';
import { listenFailure, requireRedis } from './run-command.ts';

export interface RunOnceOptions extends CommandOptions {
  readonly redis?: string;
  readonly logFile?: string;
  /** Wait while a window is closed, instead of ending with remaining work. */
  readonly wait: boolean;
}

/** The result of a run, for its caller. */
export interface RunOnceResult {
  readonly statuses: readonly RolloutStatus[];
  readonly exitCode: ExitCode;
  /** The URL of its page; undefined where another process uses its port. */
  readonly url: string | undefined;
}

const redisWithinMs = 5_000;

/**
 * `upwave run --once [policy]`: starts every policy, or the named one, now, shows live progress, and ends when each rollout
 * has ended, is held, or waits for a person or a window. The next run continues where this one stopped.
 */
export async function runOnceCommand(
  named: string | undefined,
  options: RunOnceOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  limitHeapGrowth();
  const stop = stopSignal();
  const config = openConfig(options.config);
  const policies = named === undefined ? config.rollouts : [policyOf(config, named)];
  const chosen = chooseRedis(config, options.redis);
  for (const words of findRisks(config)) output.err.write(`warning: ${toPrintable(words)}\n`);
  const log = options.logFile === undefined ? noLog : openLogFile(options.logFile, output);
  const redis = await withRedis(chosen, embeddedDataDir(), (text) => output.err.write(`${text}\n`));
  const daemon = makeOnceDaemon(config, redis.redis, secretsOf(config, chosen), log);
  try {
    const run = runOnce(daemon, config, output, { ...options, policies }, stop);
    const { exitCode } = await redis.whileRunning(run);
    if (stop.aborted) output.err.write('stopped; the next run continues where this one stopped\n');
    return exitCode;
  } finally {
    await closeInTime(daemon, redis.close);
  }
}

/** A daemon that scans only on request. Its log goes to a file, because the screen shows progress. */
export function makeOnceDaemon(
  config: Config,
  redis: Parameters<typeof makeDaemon>[0]['redis'],
  secrets: readonly string[],
  destination: LogDestination,
): Daemon {
  const logger = makeLogger({ level: config.log.level, secrets, destination });
  return makeDaemon({
    config,
    redis,
    logger,
    version: readVersion(),
    followsSchedule: false,
    // It ends with its rollouts, and follows no changes of the file until then.
    readConfig: () => config,
    isConfigUnread: () => false,
  });
}

/** Runs policies of the config once on a daemon that is not started yet. @throws CommandFailure */
export async function runOnce(
  daemon: Daemon,
  config: Config,
  output: ConsoleOutput,
  options: Pick<RunOnceOptions, 'json' | 'wait'> &
    Pick<StatusStyle, 'canBeAsked'> & { readonly policies: Config['rollouts'] },
  stop: AbortSignal,
): Promise<RunOnceResult> {
  const { json, policies } = options;
  await requireRedis(daemon, redisWithinMs);
  const url = await listenOrGoOn(daemon, config);
  const place = url === undefined ? takenText(config) : `status and metrics at ${url}`;
  if (!json) output.err.write(`upwave ${readVersion()}: ${place}\n`);
  const started: string[] = [];
  const unread: string[] = [];
  let isNobodySelected = false;
  const window = openReadWindow(output);
  for (const { name } of policies) {
    const result = await scanWithin(window, () => daemon.scanNow(name, 'operator', stop), stop);
    if (result.kind === 'failed') throw failureOf(result, accountConfigOf(config, name));
    if (result.kind === 'outdated') throw new CommandFailure(exitCodes.heldOrNeedsAPerson, scanText(result));
    if (result.kind === 'busy' && result.unread?.of === 'fleet' && result.unread.why.kind === 'empty') {
      const remedy = 'check the access key, its role and service.baseUrl, then run it again';
      throw new CommandFailure(exitCodes.heldOrNeedsAPerson, `${scanText(result)}; ${remedy}`);
    }
    if (!json) output.err.write(`${name}: ${toPrintable(scanText(result))}\n`);
    if (result.kind === 'busy' && result.unread !== undefined)
      unread.push(toPrintable(`${name}: ${scanText(result)}`));
    if (result.kind !== 'nothing') started.push(result.rolloutId);
    else if (result.why.kind === 'nobody') isNobodySelected ||= selectsNobody(result.why.leftOut);
  }
  const shownOn = json ? { ...output, isLive: false, out: output.err } : output;
  const progress = await makeProgress(shownOn, askOperations(daemon.operations));
  const statuses = await followRollouts(daemon.operations, started, progress, options, stop);
  if (!stop.aborted) await daemon.announceNow();
  if (json) printJson(output, { rollouts: statuses });
  else for (const status of statuses) await report(daemon, status, { ...output, ...options });
  const now = Date.now();
  for (const status of statuses) {
    // What has to be done, or waited for, until one that has not ended goes on.
    const words = restText(status, restOf(status, statuses, now), now);
    if (words !== undefined) output.err.write(`${words}\n`);
  }
  // The rollout is still running, but its scan failed. That comes before anything else it waits for.
  const isLeft = statuses.some(({ endedAt }) => endedAt === null);
  if (isLeft) for (const words of unread) output.err.write(`${words}\n`);
  if (!isLeft)
    return {
      statuses,
      exitCode: isNobodySelected ? exitCodes.heldOrNeedsAPerson : exitCodeOf(statuses),
      url,
    };
  // This process ends: what has not ended goes on only when a person runs it again.
  const exitCode = unread.length > 0 ? exitCodes.unreachable : exitCodes.heldOrNeedsAPerson;
  return { statuses, exitCode, url };
}

/** Scans again while the service does not answer: a scan reads before it writes anything. */
async function scanWithin(
  window: RetryWindow,
  scan: () => Promise<ScanResult>,
  stop: AbortSignal,
): Promise<ScanResult> {
  // The loop ends, because the retry window is bounded.
  for (;;) {
    const result = await scan();
    if (result.kind !== 'failed' || result.why.kind !== 'unavailable') {
      window.succeeded();
      return result;
    }
    const waitMs = window.failed(scanText(result));
    if (waitMs === undefined) return result;
    await sleepForReal(waitMs, stop);
    if (stop.aborted) return result;
  }
}

/**
 * Listens, unless another process uses the port. A daemon there shares Redis and the API budget with this one, so both can
 * work. @returns its address, or undefined without a port
 */
async function listenOrGoOn(daemon: Daemon, config: Config): Promise<string | undefined> {
  try {
    return (await daemon.start()).url;
  } catch (error) {
    if (errorCodeOf(error) !== 'EADDRINUSE') throw listenFailure(config, error);
    daemon.startWithoutPort();
    return undefined;
  }
}

function takenText({ http }: Config): string {
  return `continues without a port of its own: ${writeAddress(http)} is in use, by a daemon that shares this Redis or by another program`;
}

function failureOf(result: Extract<ScanResult, { kind: 'failed' }>, config: AccountConfig): CommandFailure {
  const { why } = result;
  const reason = scanText(result);
  if (why.kind === 'misconfigured') return new UsageFailure(reason);
  if (why.kind === 'shortInventory' || why.kind === 'stillRunning' || why.kind === 'wrongClock')
    return new CommandFailure(exitCodes.heldOrNeedsAPerson, reason);
  return noAnswer(config, why, reason);
}

const failuresShownMax = 20;

async function report(
  daemon: Daemon,
  status: RolloutStatus,
  output: Pick<ConsoleOutput, 'out'> & StatusStyle,
): Promise<void> {
  output.out.write(`\n${renderStatus(status, Date.now(), output)}\n`);
  for (const state of failedStates) {
    const page = { offset: 0, limit: failuresShownMax, state };
    for (const upgrade of (await daemon.operations.listUpgrades(status.id, page)) ?? []) {
      const reason = upgradeText(upgrade);
      output.out.write(
        `${state.padEnd(11)} ${upgrade.identity.collectorId} ${toPrintable(upgrade.identity.collectorName)}: ${toPrintable(reason)}\n`,
      );
    }
  }
}
