import { errorCodeOf } from '../../base/node-errors.ts';
import { writeAddress } from '../../base/url-authority.ts';
import { ConfigError } from '../../config/source/config-error.ts';
import { describeProblems } from '../../config/source/describe-problems.ts';
import { explainIssue } from '../../config/source/explain-issue.ts';
import { readTextFile } from '../../config/source/text-file.ts';
import { readYaml, type YamlSource } from '../../config/source/yaml-source.ts';
import { describeCollectorManagementApi } from '../../reference-service/api/api-document.ts';
import {
  type ListedFleet,
  readListedFleet,
  withListedFleet,
} from '../../reference-service/fleet/listed-fleet.ts';
import { parseScenario, type Scenario, ScenarioError } from '../../reference-service/scenario/scenario.ts';
import {
  type ReferenceService,
  type ReferenceServiceParts,
  startReferenceService,
} from '../../reference-service/server/start-reference-service.ts';
import { StateFileError } from '../../reference-service/server/state-file.ts';
import { counted } from '../../rollout/messages/sentences.ts';
import { UsageFailure } from '../shell/command.ts';
import { type ConsoleOutput, printJson } from '../shell/console-output.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { orUsageFailure } from '../shell/open-config.ts';
import { parseJson } from '../shell/option-values.ts';
import { stopSignal, untilFired } from '../shell/stop-signal.ts';

// 10,000 collectors with many fields take 20 MB.
const listBytesMax = 200 * 1024 * 1024;

export interface ServiceOptions {
  readonly host: string;
  readonly port: number;
  readonly fleet?: number;
  /** A file with the answer of `GET /collectors`. */
  readonly fleetFrom?: string;
  readonly seed?: string;
  readonly accessId?: string;
  readonly accessKey?: string;
  readonly speed: number;
  readonly scenario?: string;
  /** A file that keeps the fleet over restarts. */
  readonly state?: string;
  /** Print the description of the API instead of serving it. */
  readonly openapi?: boolean;
}

/** `upwave service`: serves the Collector Management API with a simulated fleet, until it receives a stop signal. */
export async function serviceCommand(options: ServiceOptions, output: ConsoleOutput): Promise<ExitCode> {
  if (options.openapi === true) {
    printJson(output, describeCollectorManagementApi());
    return exitCodes.done;
  }
  const stop = stopSignal();
  const accessId = options.accessId ?? process.env['UPWAVE_ACCESS_ID'];
  const accessKey = options.accessKey ?? process.env['UPWAVE_ACCESS_KEY'];
  if (accessId === undefined || accessKey === undefined) {
    throw new UsageFailure(
      'give the credentials that it accepts: --access-id and --access-key, or UPWAVE_ACCESS_ID and UPWAVE_ACCESS_KEY',
    );
  }
  const listed = options.fleetFrom === undefined ? undefined : readListedFile(options.fleetFrom);
  const scenario = withOptions(readScenario(options.scenario), options, listed);
  const onStateFailure = (error: Error) => output.err.write(`cannot write the state: ${error.message}\n`);
  const service = await listen(options, { accessId, accessKey }, { scenario, listed, onStateFailure });
  const collectors = service.world.collectors().length;
  output.out.write(
    `reference service at ${service.baseUrl}: ${counted(collectors, 'collector')}, ${options.speed} times real time\n`,
  );
  await untilFired(stop);
  await service.close().catch(throwUsageFailure);
  return exitCodes.done;
}

/** Reads a scenario file; default: a plain fleet. @throws CommandFailure with each mistake and its position */
export function readScenario(path: string | undefined): Scenario {
  return path === undefined ? parseScenario({}) : orUsageFailure(() => parseScenarioOf(readYaml(path)));
}

function parseScenarioOf(source: YamlSource): Scenario {
  try {
    return parseScenario(source.value, explainIssue);
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    throw new ConfigError(describeProblems(error.issues, source));
  }
}

function withOptions(
  scenario: Scenario,
  { fleet: size = scenario.fleet.size, seed = scenario.fleet.seed }: ServiceOptions,
  listed: ListedFleet | undefined,
): Scenario {
  const asked = { ...scenario, fleet: { ...scenario.fleet, size, seed } };
  return listed === undefined ? asked : withListedFleet(asked, listed);
}

function readListedFile(path: string): ListedFleet {
  const text = readTextFile(path, listBytesMax);
  if (typeof text !== 'string') throw new UsageFailure(`${path}: ${text.problem}`);
  const listed = readListedFleet(parseJson(text));
  if (listed !== undefined) return listed;
  throw new UsageFailure(
    `${path}: is not a list of collectors, as \`upwave collectors list --json\` writes it`,
  );
}

async function listen(
  { host, port, speed, state }: ServiceOptions,
  credentials: { readonly accessId: string; readonly accessKey: string },
  parts: Pick<ReferenceServiceParts, 'scenario' | 'listed' | 'onStateFailure'>,
): Promise<ReferenceService> {
  try {
    return await startReferenceService({
      host,
      port,
      speed,
      ...parts,
      credentials: [credentials],
      state: state ?? null,
    });
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === undefined) throwUsageFailure(error);
    const message = `cannot listen on ${writeAddress({ host, port })} (${code}); choose another --port`;
    throw new UsageFailure(message, { cause: error });
  }
}

/** @throws CommandFailure for a state file that can't be used; anything else as it is */
function throwUsageFailure(error: unknown): never {
  throw error instanceof StateFileError ? new UsageFailure(error.message, { cause: error }) : error;
}
