import type { Argument, Command } from 'commander';
import { toOneLine } from '../../base/safe-text.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/**
 * The script that makes a shell ask `upwave completion <shell> -- <words>` at each completion. Where upwave offers nothing, the
 * shell offers files. The zsh script works as a file of `fpath`, which zsh calls at the first completion, and where it is
 * sourced. A dot is an empty word, which no command takes as an argument.
 */
export const completionScripts: Readonly<Record<Shell, string>> = {
  bash: `_upwave() {
  local current="\${COMP_WORDS[COMP_CWORD]}"
  local offered="$(upwave completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" "\${current:-.}" 2>/dev/null)"
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
}
complete -o default -F _upwave upwave
`,
  zsh: `#compdef upwave
_upwave() {
  local -a offered
  offered=(\${(f)"$(upwave completion zsh -- "\${(@)words[2,CURRENT-1]}" "\${PREFIX:-.}" 2>/dev/null)"})
  if (( $#offered )); then
    _describe -t commands command offered
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
`,
  fish: `function __upwave_offered
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  test -n "$current"; or set current .
  set -l offered (upwave completion fish -- $words[2..-1] $current 2>/dev/null)
  if set -q offered[1]
    printf '%s\\n' $offered
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c upwave -f -a '(__upwave_offered)'
`,
};

/** One thing that may be typed. */
export interface Offer {
  readonly name: string;
  readonly help: string;
}

/**
 * What may stand in place of the last word, one a line in the form of the shell, which leaves out what does not match.
 * @param topics what `upwave help` takes beside the commands
 */
export function completionLines(
  program: Command,
  asked: { readonly shell: Shell; readonly words: readonly string[] },
  topics: readonly Offer[],
): string {
  const { shell, words } = asked;
  const lines = offersFor(program, words, topics).map(({ name, help }) => {
    if (shell === 'bash') return name;
    return `${name}${shell === 'zsh' ? ':' : '\t'}${toOneLine(help)}`;
  });
  return lines.map((line) => `${line}\n`).join('');
}

function offersFor(program: Command, words: readonly string[], topics: readonly Offer[]): readonly Offer[] {
  const [current = '', ...typed] = words.toReversed();
  // Words that are no command are values.
  const command = typed.reduceRight(
    (found, word) => found.commands.find((each) => each.name() === word) ?? found,
    program,
  );
  const options = [...new Set([...command.options, ...program.options])].filter(({ hidden }) => !hidden);
  const asked = options.find(({ long, required }) => required && long === typed[0]);
  if (asked !== undefined) return choicesOf(asked);
  if (current.startsWith('-')) {
    const named = options.flatMap(({ long, description: help }) => (long ? [{ name: long, help }] : []));
    return [...named, { name: '--help', help: 'show the help' }];
  }
  if (command.name() === 'help') return typed[0] === 'help' ? [...commandsIn(program), ...topics] : [];
  return [...commandsIn(command), ...command.registeredArguments.flatMap(choicesOf)];
}

function commandsIn(command: Command): readonly Offer[] {
  return command.commands.map((each) => ({ name: each.name(), help: each.description() }));
}

function choicesOf({ argChoices = [], description: help }: Pick<Argument, 'argChoices' | 'description'>) {
  return argChoices.map((name): Offer => ({ name, help }));
}
