import type { Command, Option } from 'commander';
import { makeProgram } from '../../../src/cli/program.ts';
import { makeSafeStreams } from '../../../src/cli/shell/console-output.ts';
import { commandsOf } from '../../../src/cli/shell/program-help.ts';

/** Every command with its arguments and options, in Markdown, under the headings of the help. */
export function commandsReference(): string {
  const program = makeProgram(makeSafeStreams(process), false, () => undefined);
  const groups = new Map<string, string[]>();
  let group = '';
  for (const { command, words } of commandsOf(program)) {
    // Commands below another one are in its group.
    if (words.length === 1) group = command.helpGroup().replace(/:$/, '');
    if (words.length === 0 || command.commands.length > 0) continue;
    groups.set(group, [...(groups.get(group) ?? []), commandText(command, words)]);
  }
  const options = program.options.filter(({ hidden }) => !hidden).map(optionText);
  return [
    ...[...groups].map(([title, commands]) => `## ${title}\n\n${commands.join('\n\n')}`),
    `## Options of every command\n\n${options.join('\n')}`,
  ].join('\n\n');
}

function commandText(command: Command, words: readonly string[]): string {
  const given = command.registeredArguments.map((argument) => {
    const name = argument.variadic ? `${argument.name()}...` : argument.name();
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  const options = command.options.filter(({ hidden }) => !hidden).map(optionText);
  const about = sentence(command.description());
  return [
    `### \`upwave ${[...words, ...given].join(' ')}\`\n`,
    about,
    ...(options.length > 0 ? ['', ...options] : []),
  ].join('\n');
}

function optionText({ flags, description, argChoices, defaultValue }: Option): string {
  const facts = [
    ...(argChoices === undefined ? [] : [argChoices.map((choice) => `\`${choice}\``).join(', ')]),
    ...(typeof defaultValue === 'number' || typeof defaultValue === 'string'
      ? [`default \`${defaultValue}\``]
      : []),
  ];
  const more = facts.length === 0 || /default[: ]/.test(description) ? '' : ` (${facts.join('; ')})`;
  return `- \`${flags}\`: ${description.replaceAll(/<(\w[\w-]*)>/g, '`<$1>`')}${more}`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
