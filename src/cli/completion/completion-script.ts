import type { Command } from 'commander';
import { commandsOf } from '../shell/program-help.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** What may follow the words of a command. */
interface Completion {
  readonly words: readonly string[];
  readonly commands: ReadonlyArray<{ readonly name: string; readonly help: string }>;
  readonly options: ReadonlyArray<{ readonly flag: string; readonly help: string }>;
}

/** The completion script of a shell, made from the commands themselves. */
export function completionScript(program: Command, shell: Shell): string {
  const completions = completionsOf(program);
  switch (shell) {
    case 'bash':
      return `${bashFunction(completions)}complete -o default -F _upwave upwave\n`;
    case 'zsh':
      return zshFunction(completions);
    case 'fish':
      return fishLines(completions);
    default:
      return shell satisfies never;
  }
}

function completionsOf(program: Command): readonly Completion[] {
  const optionsOf = ({ options }: Command) =>
    options.flatMap(({ long, description }) =>
      long === undefined ? [] : [{ flag: long, help: description }],
    );
  return commandsOf(program).map(({ command, words }) => ({
    words,
    commands: [
      ...command.commands.map((each) => ({ name: each.name(), help: each.description() })),
      // The values of an argument are offered instead of commands.
      ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
        argChoices.map((name) => ({ name, help: description })),
      ),
    ],
    options: [
      ...optionsOf(command),
      ...(words.length === 0 ? [] : optionsOf(program)),
      { flag: '--help', help: 'show the help' },
    ],
  }));
}

/** A pattern for the words that lead to a command: `config|config/check`. */
function knownPaths(completions: readonly Completion[]): string {
  return completions.flatMap(({ words }) => (words.length === 0 ? [] : [words.join('/')])).join('|');
}

/** Finds the command in the words that were typed, and offers what may follow it. */
function bashFunction(completions: readonly Completion[]): string {
  const cases = completions.map(({ words, commands, options }) => {
    const offered = [...commands.map(({ name }) => name), ...options.map(({ flag }) => flag)];
    return `    ${words.length === 0 ? '""' : `"${words.join('/')}"`}) offered="${offered.join(' ')}" ;;`;
  });
  return `_upwave() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" offered="" word next
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${path:+$path/}$word"
    case "$next" in
      ${knownPaths(completions)}) path="$next" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
}
`;
}

/**
 * The same for zsh, with the help of each. It works as a file of `fpath`, which zsh calls at the first completion, and
 * where it is sourced. `path` and `commands` are names of zsh itself.
 */
function zshFunction(completions: readonly Completion[]): string {
  const listed = (name: string, help: string) => `      ${zshQuote(`${name}:${help}`)}`;
  const cases = completions.flatMap(({ words, commands, options }) => [
    `    ${words.length === 0 ? '""' : words.join('/')})`,
    ...['    subcommands=(', ...commands.map(({ name, help }) => listed(name, help)), '    )'],
    ...['    flags=(', ...options.map(({ flag, help }) => listed(flag, help)), '    ) ;;'],
  ]);
  return `#compdef upwave
_upwave() {
  local typed="" word next
  local -a subcommands flags
  for word in "\${(@)words[2,CURRENT-1]}"; do
    next="\${typed:+$typed/}$word"
    case "$next" in
      ${knownPaths(completions)}) typed="$next" ;;
    esac
  done
  case "$typed" in
${cases.join('\n')}
  esac
  if [[ "$PREFIX" == -* ]]; then
    _describe -t options option flags
  elif (( $#subcommands )); then
    _describe -t commands command subcommands
  else
    _files
  fi
}
if [[ "$funcstack[1]" == _upwave ]]; then
  _upwave "$@"
else
  (( $+functions[compdef] )) || { autoload -U compinit && compinit }
  compdef _upwave upwave
fi
`;
}

function zshQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function fishLines(completions: readonly Completion[]): string {
  const lines = completions.flatMap(({ words, commands, options }) => {
    const seen = words.map((word) => `__fish_seen_subcommand_from ${word}`);
    const none = commands.map(({ name }) => name).join(' ');
    const isHere = words.length === 0 ? '__fish_use_subcommand' : seen.join('; and ');
    const before = words.length === 0 ? isHere : `${isHere}; and not __fish_seen_subcommand_from ${none}`;
    return [
      ...commands.map(
        ({ name, help }) => `complete -c upwave -f -n '${before}' -a ${name} -d ${quote(help)}`,
      ),
      ...options.map(
        ({ flag, help }) =>
          `complete -c upwave -n '${isHere}' -l ${flag.slice('--'.length)} -d ${quote(help)}`,
      ),
    ];
  });
  return `${lines.join('\n')}\n`;
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
