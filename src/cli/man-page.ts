import type { Command, Option } from 'commander';
import { stateText } from '../rollout/messages/sentences.ts';
import { makeProgram } from './program.ts';
import { makeSafeStreams } from './shell/console-output.ts';
import { exitCodes } from './shell/exit-codes.ts';
import { commandsOf, type NamedCommand } from './shell/program-help.ts';
import { roff } from './shell/roff.ts';
import { readVersion } from './shell/version.ts';

/** The manual page (`man upwave`), made from the definitions of the commands: the build writes it. @returns roff */
export function manPage(): string {
  const program = makeProgram(makeSafeStreams(process), false, () => undefined);
  return [
    `.TH UPWAVE 1 "" "upwave ${roff(readVersion())}" "User Commands"`,
    '.SH NAME',
    `upwave \\- ${roff(program.description())}`,
    '.SH SYNOPSIS',
    '.B upwave',
    '[\\fIoptions\\fR] \\fIcommand\\fR [\\fIarguments\\fR]',
    '.SH OPTIONS',
    ...program.options.flatMap(optionLines),
    '.SH COMMANDS',
    ...commandsOf(program).flatMap(commandLines),
    '.SH EXIT STATUS',
    ...Object.entries(exitCodes).flatMap(([name, code]) => ['.TP', `.B ${code}`, roff(stateText(name))]),
    '.SH ENVIRONMENT',
    ...environment.flatMap(([name, words]) => ['.TP', `.B ${name}`, roff(words)]),
    '.SH SEE ALSO',
    '.BR upwave\\-docs (7)',
    '',
  ].join('\n');
}

const environment = [
  ['UPWAVE_URL', 'Where the daemon listens, for commands which ask a daemon.'],
  ['UPWAVE_TOKEN', 'The token for these commands.'],
  ['UPWAVE_RETRY_FOR', 'How long a read is retried: 2m, or 0s for no retry.'],
  ['HTTPS_PROXY, HTTP_PROXY', 'The proxy for requests to the service, gates and receivers of notifications.'],
  ['NO_PROXY', 'Hosts that need no proxy, separated by commas.'],
] as const;

/** Nothing for what only leads to others, as `config` does to `config check`. */
function commandLines({ command, words: path }: NamedCommand): readonly string[] {
  if (command.commands.length > 0) return [];
  const words = [...path, ...command.registeredArguments.map(argumentText)].join(' ');
  const options = command.options.filter(({ hidden }) => !hidden);
  return [
    `.SS ${roff(words)}`,
    roff(command.description()),
    ...(options.length === 0 ? [] : ['.RS', ...options.flatMap(optionLines), '.RE']),
  ];
}

function argumentText(argument: Command['registeredArguments'][number]): string {
  const words = argument.variadic ? `${argument.name()}...` : argument.name();
  return argument.required ? `<${words}>` : `[${words}]`;
}

function optionLines({ flags, description }: Option): readonly string[] {
  return ['.TP', `.B ${roff(flags)}`, roff(description)];
}
