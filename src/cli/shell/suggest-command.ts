import type { Command } from 'commander';
import { nearestText } from '../../base/names.ts';

/**
 * Commands that a hint may name: those that only read, and the brakes `pause` and `hold`. An operator at night types what
 * the hint says, so a hint never names a command that starts, changes or deletes. New commands are not named until listed.
 */
const harmless: ReadonlySet<string> = new Set([
  'audit',
  'completion',
  'upgrades',
  'builds',
  'check',
  'collectors',
  'config',
  'demo',
  'events',
  'explain',
  'export',
  'help',
  'hold',
  'holds',
  'list',
  'pause',
  'plan',
  'service',
  'show',
  'sources',
  'status',
]);

/** Refuses an unknown command below this one. It names the nearest command where that is harmless. */
export function suggestHarmlessCommands(command: Command): void {
  if (command.commands.length === 0) return;
  command.on('command:*', ([name = '']: readonly string[]) => {
    const known = command
      .createHelp()
      .visibleCommands(command)
      .map((each) => each.name());
    const nearest = nearestText(name, known);
    const hint = nearest !== undefined && harmless.has(nearest) ? `\n(Did you mean ${nearest}?)` : '';
    command.error(`error: unknown command '${name}'${hint}`, { code: 'commander.unknownCommand' });
  });
  for (const each of command.commands) suggestHarmlessCommands(each);
}
