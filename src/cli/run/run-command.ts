import { errorCodeOf } from '../../base/node-errors.ts';
import { toPrintable } from '../../base/safe-text.ts';
import { writeAddress } from '../../base/url-authority.ts';
import type { Config } from '../../config/config.ts';
import { followFile } from '../../config/load/followed-file.ts';
import { loadConfig } from '../../config/load/load-config.ts';
import { findRisks } from '../../config/show/find-risks.ts';
import { type Daemon, makeDaemon } from '../../daemon/daemon.ts';
import { type Logger, makeLogger } from '../../observability/logger.ts';
import { chooseRedis, secretsOf } from '../shell/choose-redis.ts';
import { CommandFailure, UsageFailure } from '../shell/command.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { followHangUps } from '../shell/hang-up.ts';
import { openConfig } from '../shell/open-config.ts';
import { stopSignal, untilFired } from '../shell/stop-signal.ts';
import { readVersion } from '../shell/version.ts';
import { embeddedDataDir, withRedis } from '../shell/with-redis.ts';
import { closeInTime } from './close-in-time.ts';
import { limitHeapGrowth } from './limit-heap-growth.ts';
import { readableLog } from './readable-log.ts';

/** `upwave run`: the daemon. It scans at start and on schedule, until it receives a stop signal. */
export async function runCommand(
  options: { readonly config: string; readonly redis?: string },
  output: ConsoleOutput,
): Promise<ExitCode> {
  limitHeapGrowth();
  const stop = stopSignal();
  const file = followFile(options.config);
  const config = openConfig(options.config);
  const chosen = chooseRedis(config, options.redis);
  const logger = makeLogger({
    level: config.log.level,
    secrets: secretsOf(config, chosen),
    destination: output.isLive ? readableLog(output) : null,
  });
  const version = readVersion();
  logger.write('info', { event: 'daemon.starting', version });
  for (const reason of findRisks(config)) logger.write('warn', { event: 'config.risk', reason });
  const redis = await withRedis(chosen, embeddedDataDir(), (reason, level) =>
    logger.write(level, { event: level === 'error' ? 'redis.stopped' : 'redis.embedded', reason }),
  );
  const daemon = makeDaemon({
    config,
    redis: redis.redis,
    logger,
    version,
    followsSchedule: true,
    readConfig: () => {
      file.noteReading();
      const next = loadConfig(options.config, process.env);
      logger.addSecrets(secretsOf(next, chosen));
      return next;
    },
    isConfigUnread: file.isUnread,
  });
  followHangUps(() => void reloadBySignal(daemon, logger));
  try {
    await daemon.start().catch((error: unknown) => {
      throw listenFailure(config, error);
    });
    await redis.whileRunning(untilFired(stop));
  } finally {
    await closeInTime(daemon, redis.close);
  }
  return exitCodes.done;
}

/** The sender of a signal gets no answer, so the log has the result. */
async function reloadBySignal(daemon: Daemon, logger: Logger): Promise<void> {
  try {
    await daemon.operations.reload({ by: 'SIGHUP', reason: '' });
  } catch (error) {
    logger.write('error', { event: 'config.unsettled', error });
  }
}

/** Why a daemon cannot use its port, in words for an operator. */
export function listenFailure(config: Config, error: unknown): CommandFailure {
  const why = errorCodeOf(error) ?? String(error);
  const message = `cannot listen on ${writeAddress(config.http)} (${why}); set another http.port, or stop what uses it`;
  return new UsageFailure(message, { cause: error });
}

/** @throws CommandFailure when Redis does not answer in time, or refuses a right without which no work is possible */
export async function requireRedis(daemon: Daemon, withinMs: number): Promise<void> {
  const silence = await daemon.waitForRedis(withinMs);
  if (silence === undefined) {
    const forbidden = await daemon.checkRedisRights();
    if (forbidden === undefined) return;
    throw new UsageFailure(`Redis at ${toPrintable(forbidden)}`);
  }
  const remedy = 'start it, correct redis.url, or use --redis embedded';
  const message = `cannot reach Redis at ${silence.place}; ${remedy} (${silence.reason})`;
  throw new CommandFailure(exitCodes.unreachable, toPrintable(message));
}
