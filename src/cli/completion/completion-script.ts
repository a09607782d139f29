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
      return `#compdef upwave\nautoload -U +X bashcompinit && bashcompinit\n${bashFunction(completions)}complete -o default -F _upwave upwave\n`;
    case 'fish':
      return fishLines(completions);
    default:
      return shell satisfies never;
  }
}

function completionsOf(program: Command): readonly Completion[] {
  const common = program.options.flatMap(({ long, description }) =>
    long === undefined ? [] : [{ flag: long, help: description }],
  );
  return commandsOf(program).map(({ command, words }) => {
    const own = command.options.flatMap(({ long, description }) =>
      long === undefined ? [] : [{ flag: long, help: description }],
    );
    return {
      words,
      commands: command.commands.map((each) => ({ name: each.name(), help: each.description() })),
      options: [...own, ...(words.length === 0 ? [] : common), { flag: '--help', help: 'show the help' }],
    };
  });
}

/** Follows the words that were typed to a command, and offers what may follow it. */
function bashFunction(completions: readonly Completion[]): string {
  const known = completions.map(({ words }) => words.join('/')).filter((path) => path !== '');
  const cases = completions.map(({ words, commands, options }) => {
    const offered = [...commands.map(({ name }) => name), ...options.map(({ flag }) => flag)];
    return `    ${words.length === 0 ? '""' : `"${words.join('/')}"`}) offered="${offered.join(' ')}" ;;`;
  });
  return `_upwave() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" offered="" word next
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${path:+$path/}$word"
    case "$next" in
      ${known.join('|')}) path="$next" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
}
`;
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
