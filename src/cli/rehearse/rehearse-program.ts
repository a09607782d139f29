import { type Command, InvalidArgumentError, Option } from 'commander';
import type { EpochMs } from '../../base/time.ts';
import { urlOption } from '../rollouts/verbs-program.ts';
import type { CommandRunner } from '../shell/command.ts';
import { countUpTo } from '../shell/option-values.ts';

/** More seeds show nothing new. */
const seedsMax = 10_000;

/** Adds `upwave rehearse`. */
export function addRehearseProgram(program: Command, run: CommandRunner): void {
  program
    .command('rehearse')
    .argument('[policy]', 'the policy, where the config has several')
    .description(
      'play a policy in virtual time against your fleet: waves over time, harm of a bad build, holds; leaves out the collectors that the daemon holds; writes nothing to the service',
    )
    .option('--fleet <file>', 'the fleet from this file, as `collectors list --json` writes it')
    .option('--build <build>', 'the build, instead of the target of the policy')
    .option('--what-if <file>', 'what breaks, and what the service, gates and people do')
    .addOption(
      new Option(
        '--replay <rollout>',
        'play a past rollout again with this policy: its collectors, and what happened to each',
      ).conflicts(['build', 'learn']),
    )
    .option(
      '--learn',
      'ask the daemon how long upgrades took and how many failed in the last completed rollout',
      false,
    )
    .option(
      urlOption[0],
      `${urlOption[1]}; named here, it also gives the durations of the last rollout, and with --fleet the holds`,
    )
    .option('--seeds <count>', 'how many rollouts to play', countUpTo(seedsMax), 200)
    .option('--at <instant>', 'when the rollout starts, such as 2026-11-22T21:00Z; default: now', instant)
    .option('--html <file>', 'also write the result as an HTML page')
    .option(
      '--fail-if <condition>',
      'exit with 1 if this condition is true, such as `harmed.p95 > 5` (repeatable)',
      (condition: string, before: readonly string[]) => [...before, condition],
      [] as readonly string[],
    )
    .option('--no-others', 'do not play the other policies of the account, which share its API budget')
    .option('--no-variants', 'do not play variants of the policy that would catch a bad build earlier')
    .action(run(async () => (await import('./rehearse-command.ts')).rehearseCommand));
}

/** @throws InvalidArgumentError */
function instant(text: string): EpochMs {
  const at = Date.parse(text);
  if (Number.isFinite(at)) return at;
  throw new InvalidArgumentError('give an instant, such as 2026-11-22T21:00Z.');
}
