import { type Command, InvalidArgumentError } from 'commander';
import { nearestText } from '../../base/names.ts';
import { eventsDefault, eventsMax } from '../../contract/admin/event-limits.ts';
import { failedStates, type UpgradeState, upgradeStates } from '../../rollout/model/upgrade.ts';
import { urlOption } from '../rollouts/verbs-program.ts';
import type { CommandRunner } from '../shell/command.ts';
import { countUpTo, instantOrAge } from '../shell/option-values.ts';

const rolloutArgument = [
  '[rollout]',
  'its id, or its policy; not needed when only one is running, or there is only one policy',
] as const;

const upgradesDefault = 100;
const upgradesMax = 100_000;
const rolloutsDefault = 20;
const rolloutsMax = 1_000;

/** Adds the commands that list collectors, events and rollouts. */
export function addHistoryProgram(program: Command, run: CommandRunner): void {
  program
    .command('upgrades')
    .argument(...rolloutArgument)
    .description('the collectors of a rollout one by one: state, wave, reason; filters select some of them')
    .option('--state <states>', 'states, such as failed, or failed,timedOut,unconfirmed', statesOf)
    .option('--stratum <label>', 'a stratum by its label, such as "Linux / amd64 / 19.441-2"')
    .option(
      '--cause <words>',
      'words of the reason, a cause as status shows it, a failure class (timedOut), or the reasonKind of --json',
    )
    .option('--match <words>', 'words in its name, id, builds, stratum or caps')
    .option(
      '--with <attributes>',
      'attributes that the collectors share, such as "fields.rack=r7 and osName=Windows*"',
    )
    .option('--wave <name>', 'a wave by its name')
    .option('--limit <count>', `how many, at most ${upgradesMax}`, countUpTo(upgradesMax), upgradesDefault)
    .option(...urlOption)
    .action(run(async () => (await import('./upgrades-command.ts')).upgradesCommand));
  program
    .command('events')
    .argument(...rolloutArgument)
    .description('what happened to a rollout and its collectors, newest first: who, what, why, when')
    .option('--since <time>', 'how long ago (2h), or an instant (2026-11-22T21:00Z)', instantOrAge)
    .option('--type <event>', 'an event, or how a part of its name begins: wave.passed, upgrade, abort')
    .option('--collector <name>', "a collector's id, or a part of its name")
    .option('--by <who>', 'daemon, schedule, or an operator')
    .option('--limit <count>', `how many, at most ${eventsMax}`, countUpTo(eventsMax), eventsDefault)
    .option(...urlOption)
    .action(run(async () => (await import('./events-command.ts')).eventsCommand));
  program
    .command('audit')
    .description('who did which verb, hold, release or reload, when and why, over all rollouts, newest first')
    .option('--since <time>', 'how long ago (7d), or an instant (2026-11-22T21:00Z)', instantOrAge)
    .option('--type <verb>', 'a verb, or an event or how a part of its name begins: abort, hold, stratum')
    .option('--policy <name>', 'only what was done to the rollouts of this policy')
    .option(
      '--by <who>',
      'an operator, or daemon for what it did itself, such as the hold of a build that failed',
    )
    .option('--limit <count>', `how many, at most ${eventsMax}`, countUpTo(eventsMax), eventsDefault)
    .option(...urlOption)
    .action(run(async () => (await import('./audit-command.ts')).auditCommand));
  program
    .command('list')
    .argument('[policy]', 'its name; default: all policies')
    .description('rollouts, past ones included, newest first')
    .option('--before <rollout>', 'only rollouts older than this one, by its id')
    .option('--limit <count>', `how many, at most ${rolloutsMax}`, countUpTo(rolloutsMax), rolloutsDefault)
    .option(...urlOption)
    .action(run(async () => (await import('./list-command.ts')).listCommand));
}

/** Parses states. `failed` means all states that count as failures. @throws InvalidArgumentError */
function statesOf(text: string): readonly UpgradeState[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.length === 1 && names[0] === 'failed') return failedStates;
  return names.map((name) => {
    const state = upgradeStates.find((each) => each.toLowerCase() === name.toLowerCase());
    if (state !== undefined) return state;
    const nearest = nearestText(name, upgradeStates);
    const hint = nearest === undefined ? upgradeStates.join(', ') : `did you mean ${nearest}?`;
    throw new InvalidArgumentError(`there is no state ${name}: ${hint}`);
  });
}
