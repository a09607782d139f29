import { toPrintable } from '../../base/safe-text.ts';
import { accountConfigsOf } from '../../config/account-configs.ts';
import type { Config } from '../../config/config.ts';
import { effectiveConfig, renderEffectiveConfig } from '../../config/show/effective-config.ts';
import { findRisks } from '../../config/show/find-risks.ts';
import { maskedPolicy } from '../../config/show/masked-urls.ts';
import { findOverlappingPolicies } from '../../config/show/overlapping-policies.ts';
import type { CommandOptions } from '../shell/command.ts';
import { type ConsoleOutput, printAnswer, printJson } from '../shell/console-output.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { defaultRedis, openConfig } from '../shell/open-config.ts';
import { checkFleet, type FleetCheck } from './fleet-check.ts';
import { policyLines } from './policy-lines.ts';

export interface ConfigCheckOptions extends CommandOptions {
  /** Also compare the policies with the inventory. */
  readonly fleet: boolean;
  /** Print the whole config instead, with its defaults. */
  readonly print: boolean;
}

/** `upwave config check`: every problem at once, each with its line; or a summary of the config, or the whole config. */
export async function configCheckCommand(
  options: ConfigCheckOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const config = openConfig(options.config);
  if (options.print) {
    printEffective(config, options, output);
    return exitCodes.done;
  }
  const fleet = options.fleet ? await readFleet(config, output) : undefined;
  const overlapping = accountConfigsOf(config).flatMap(({ rollouts }) => findOverlappingPolicies(rollouts));
  // Secrets print themselves as ***.
  const risks = findRisks(config);
  const masked = { ...config, rollouts: config.rollouts.map(maskedPolicy) };
  const warnings = [...overlapping.map(({ words }) => words), ...risks, ...(fleet?.warnings ?? [])];
  return printAnswer(output, options, { ...masked, overlapping, risks, ...(fleet && { fleet }) }, () =>
    render(options.config, config, warnings, fleet),
  );
}

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
    `${path} is right: ${placeText(config)}`,
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
