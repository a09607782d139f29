import { toPrintable } from '../../base/safe-text.ts';
import { accountConfigsOf } from '../../config/account-configs.ts';
import type { Config } from '../../config/config.ts';
import { effectiveConfig, renderEffectiveConfig } from '../../config/show/effective-config.ts';
import { findRisks } from '../../config/show/find-risks.ts';
import { maskedPolicy } from '../../config/show/masked-urls.ts';
import { findOverlappingPolicies } from '../../config/show/overlapping-policies.ts';
import { ConfigError, type ConfigProblem } from '../../config/source/config-error.ts';
import { tooQuickText } from '../../rehearsal/result/assumed-text.ts';
import { type CommandOptions, UsageFailure } from '../shell/command.ts';
import { type ConsoleOutput, printAnswer, printJson } from '../shell/console-output.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { defaultRedis, openConfig } from '../shell/open-config.ts';
import { checkFleet, type FleetCheck } from './fleet-check.ts';
import { policyLines } from './policy-lines.ts';

export interface ConfigCheckOptions extends CommandOptions {
  /** Also compare the policies with the inventory. */
  readonly fleet: boolean;
  /** Also read the files with secrets. */
  readonly secrets: boolean;
  /** Print the whole config instead, with its defaults. */
  readonly print: boolean;
}

/** `upwave config check`: all errors, each with its line and column; or a summary of the config, or the whole config. */
export async function configCheckCommand(
  options: ConfigCheckOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  let config: Config;
  try {
    config = openConfig(options.config, process.env, options.secrets || options.fleet);
  } catch (error) {
    return printProblems(error, options, output);
  }
  if (options.print) {
    printEffective(config, options, output);
    return exitCodes.done;
  }
  const fleet = options.fleet ? await readFleet(config, output) : undefined;
  const overlapping = accountConfigsOf(config).flatMap(({ rollouts }) => findOverlappingPolicies(rollouts));
  // Secrets print themselves as ***.
  const risks = [...findRisks(config), ...config.rollouts.flatMap((policy) => tooQuickText(policy) ?? [])];
  const masked = { ...config, rollouts: config.rollouts.map(maskedPolicy) };
  const warnings = [...overlapping.map(({ words }) => words), ...risks, ...(fleet?.warnings ?? [])];
  printAnswer(output, options, { ...masked, overlapping, risks, ...(fleet && { fleet }) }, () =>
    render(options.config, config, warnings, fleet),
  );
  const selectsNothing = fleet?.policies.some(({ selected }) => selected === 0) === true;
  return selectsNothing ? exitCodes.heldOrNeedsAPerson : exitCodes.done;
}

/**
 * Errors in the file are the result of this command. Each line begins with the file's name, as editors and CI read it.
 * @throws the error again if it is not about the content of the file
 */
function printProblems(error: unknown, { json }: ConfigCheckOptions, output: ConsoleOutput): ExitCode {
  if (!(error instanceof UsageFailure && error.cause instanceof ConfigError)) throw error;
  if (json) printJson(output, error.cause.problems.map(placedProblem));
  else output.out.write(`${error.message.split('\n').map(toPrintable).join('\n')}\n`);
  return error.exitCode;
}

/** Each key is always there. An error of the whole file has no line. */
function placedProblem({ file, line = null, column = null, message, path }: LooseProblem): object {
  return { file, line, column, message, path };
}

type LooseProblem = { readonly [Key in keyof ConfigProblem]: ConfigProblem[Key] | null };

async function readFleet(config: Config, output: ConsoleOutput): Promise<FleetCheck> {
  // Modules for the service are loaded only when a request is needed.
  const { readPlans } = await import('./read-plans.ts');
  return checkFleet(await readPlans(config, config.rollouts, output));
}

function printEffective(config: Config, { json }: ConfigCheckOptions, output: ConsoleOutput): void {
  const effective = { ...config, redis: config.redis ?? defaultRedis };
  if (json) printJson(output, effectiveConfig(effective));
  else output.out.write(renderEffectiveConfig(effective).split('\n').map(toPrintable).join('\n'));
}

function render(
  path: string,
  config: Config,
  warnings: readonly string[],
  fleet: FleetCheck | undefined,
): string {
  return [
    `${path} is valid: ${placeText(config)}`,
    ...config.rollouts.flatMap(policyLines).map((words) => toPrintable(`  ${words}`)),
    ...(fleet?.policies.map(({ words }) => `  ${words}`) ?? []),
    ...warnings.map((words) => `  warning: ${toPrintable(words)}`),
  ].join('\n');
}

function placeText(config: Config): string {
  const accounts = accountConfigsOf(config).map(({ account, service, rollouts }) =>
    account === undefined
      ? `service ${service.baseUrl}`
      : `account ${account} ${service.baseUrl} (${rollouts.map(({ name }) => name).join(', ')})`,
  );
  return accounts.join('; ');
}
