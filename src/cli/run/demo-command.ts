import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { startReferenceService } from '../../reference-service/server/start-reference-service.ts';
import { secretsOf } from '../shell/choose-redis.ts';
import type { GlobalOptions } from '../shell/command.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { openConfig } from '../shell/open-config.ts';
import { stopSignal, untilFired } from '../shell/stop-signal.ts';
import { withRedis } from '../shell/with-redis.ts';
import { closeInTime } from './close-in-time.ts';
import { noLog } from './log-file.ts';
import { makeOnceDaemon, runOnce } from './run-once.ts';
import { readScenario } from './service-command.ts';

const configPath = packaged('demo.yaml');
const scenarioPath = packaged('scenarios/demo.yaml');
const speed = 100;

/**
 * `upwave demo`: a Redis, the reference service with a simulated fleet, and a rollout in three waves, on this machine
 * and without an account. It exits with 0 when the rollout ended as its scenario says: one collector fails for good.
 */
export async function demoCommand(
  options: GlobalOptions & { readonly keep: boolean },
  output: ConsoleOutput,
): Promise<ExitCode> {
  const stop = stopSignal();
  const write = (text: string) => output.err.write(`${text}\n`);
  const dataDir = mkdtempSync(join(tmpdir(), 'upwave-demo-'));
  const credentials = { accessId: 'demo', accessKey: randomBytes(18).toString('base64url') };
  const scenario = readScenario(scenarioPath);
  const service = await startReferenceService({ speed, scenario, credentials: [credentials] });
  write(
    `reference service: ${scenario.fleet.size} simulated collectors, ${speed} times as fast as real ones`,
  );
  const config = openConfig(configPath, {
    UPWAVE_DEMO_BASE_URL: service.baseUrl,
    UPWAVE_DEMO_ACCESS_ID: credentials.accessId,
    UPWAVE_DEMO_ACCESS_KEY: credentials.accessKey,
  });
  const redis = await withRedis('embedded', dataDir, write);
  const daemon = makeOnceDaemon(config, redis.redis, secretsOf(config, redis.redis), noLog);
  try {
    const style = { json: false, wait: true, canBeAsked: options.keep, policies: config.rollouts };
    const run = runOnce(daemon, config, output, style, stop);
    const { statuses, exitCode, url } = await redis.whileRunning(run);
    const { createsPerCollector, tasksInFlightMax, throttled } = service.record.snapshot();
    const creates = Object.values(createsPerCollector);
    output.out.write(
      `\nthe service's own record: ${creates.reduce((a, b) => a + b, 0)} tasks for ${creates.length} collectors, ` +
        `at most ${tasksInFlightMax} at the same time, ${throttled.rate + throttled.concurrency} answers 429\n`,
    );
    const isGood = !stop.aborted && isAsWritten(statuses);
    if (isGood)
      output.out.write('The scenario is written so: a few upgrades fail once, and one fails for good.\n');
    if (options.keep && !stop.aborted) {
      const page = url ?? 'no address: its port is in use';
      output.out.write(
        `The page stays open at ${page}\nTry upwave status --url ${page}. Ctrl-C ends the demo.\n`,
      );
      await untilFired(stop);
    } else if (!stop.aborted) {
      output.out.write(`To look around at the end: ${againCommand()}\n`);
    }
    return isGood ? exitCodes.done : exitCode;
  } finally {
    await closeInTime(daemon, async () => {
      await redis.close();
      await service.close();
    });
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** The same demo that stays open, as it was started. */
function againCommand(): string {
  const isNpm = process.env['npm_lifecycle_event'] === 'demo';
  return isNpm ? 'npm run --silent demo -- --keep' : 'upwave demo --keep';
}

function isAsWritten(statuses: readonly RolloutStatus[]): boolean {
  const [status] = statuses;
  if (status === undefined || status.endedAt === null) return false;
  const { counts, planned } = status;
  return counts.failed === 1 && counts.succeeded === planned - 1;
}

/** A file of the package's `config/` folder, the same distance from src/cli and from dist/cli. */
function packaged(name: string): string {
  return fileURLToPath(new URL(`../../../config/${name}`, import.meta.url));
}
