import type { Command } from 'commander';
import { nearestText } from '../../base/names.ts';

/**
 * Commands that a hint may name: those that only read or print, the brakes `pause` and `hold`, and those that show what they
 * would do and ask before they act. An operator at night types what the hint says, so a hint never names a command that
 * starts, changes or deletes without a question. New commands are not named until listed.
 */
const suggestible: ReadonlySet<string> = new Set([
  'approve',
  'audit',
  'builds',
  'check',
  'collectors',
  'completion',
  'config',
  'demo',
  'diff',
  'events',
  'explain',
  'export',
  'help',
  'hold',
  'holds',
  'init',
  'list',
  'pause',
  'plan',
  'rehearse',
  'report',
  'resume',
  'retry',
  'rollback',
  'service',
  'show',
  'skip-soak',
  'sources',
  'start',
  'status',
  'upgrades',
]);

/** Refuses an unknown command below this one. It names the nearest command where a hint may name it. */
export function suggestCommands(command: Command): void {
  if (command.commands.length === 0) return;
  command.on('command:*', ([name = '']: readonly string[]) => {
    const known = command
      .createHelp()
      .visibleCommands(command)
      .map((each) => each.name());
    const nearest = nearestText(name, known);
    const hint = nearest !== undefined && suggestible.has(nearest) ? `\n(Did you mean ${nearest}?)` : '';
    command.error(`error: unknown command '${name}'${hint}`, { code: 'commander.unknownCommand' });
  });
  for (const each of command.commands) suggestCommands(each);
}
