import type { Argument, Command, Option } from 'commander';
import { toOneLine } from '../../base/safe-text.ts';
import { fixedValues, type Offer, type ReadValues, valueKinds } from './value-kinds.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/**
 * The script that makes a shell ask `upwave completion <shell> -- <words>` at each completion. Where upwave offers nothing, the
 * shell offers files. The zsh script works as a file of `fpath`, which zsh calls at the first completion, and where it is
 * sourced. A dot is an empty word, which no command takes as an argument. The bash script quotes what it offers, and expands
 * nothing of it: values come from the service, and `compgen -W` would run a command in them. For bash, the `=` of
 * `--config=FILE` is a word of its own.
 */
export const completionScripts: Readonly<Record<Shell, string>> = {
  bash: `_upwave() {
  local current="\${COMP_WORDS[COMP_CWORD]}" line quoted
  COMPREPLY=()
  if [[ $current == = ]]; then current=; fi
  while IFS= read -r line; do
    printf -v quoted '%q' "$line"
    if [[ $line == "$current"* || $quoted == "$current"* ]]; then
      COMPREPLY+=("$quoted")
    elif [[ $current == [\\"\\']* && $line == "\${current:1}"* ]]; then
      COMPREPLY+=("$line")
    fi
  done < <(upwave completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" "\${current:-.}" 2>/dev/null)
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

/** Reads what is offered, where it is needed. */
export interface ReadOffers {
  /** Asks the daemon, where a value of the word is known to it. */
  readonly values: ReadValues;
  /** What `upwave help` takes beside the commands. */
  readonly topics: () => Promise<readonly Offer[]>;
}

/**
 * What may stand in place of the last word, one a line in the form of the shell, which leaves out what does not match.
 */
export async function completionLines(
  program: Command,
  shell: Shell,
  words: readonly string[],
  read: ReadOffers,
): Promise<string> {
  const offers = await offersFor(program, words, read);
  return offers.map((offer) => `${lineOf[shell](offer)}\n`).join('');
}

const lineOf: Readonly<Record<Shell, (offer: Offer) => string>> = {
  bash: ({ name }) => name,
  zsh: ({ name, help }) => withHelp(name.replaceAll(/[\\:]/g, '\\$&'), ':', help),
  fish: ({ name, help }) => withHelp(name, '\t', help),
};

function withHelp(name: string, separator: string, help: string): string {
  return help === '' ? name : `${name}${separator}${toOneLine(help)}`;
}

async function offersFor(
  program: Command,
  words: readonly string[],
  read: ReadOffers,
): Promise<readonly Offer[]> {
  const current = words.at(-1) ?? '';
  const typed = words.slice(0, -1);
  const { command, values, asked, given } = readTyped(program, typed);
  const valuesOf = async (key: string): Promise<readonly Offer[]> => {
    const fixed = fixedValues[key];
    if (fixed !== undefined) return fixed.map((name) => ({ name, help: '' }));
    const kind = valueKinds[`${command.name()} ${key}`] ?? valueKinds[key];
    if (kind === undefined) return [];
    const { url, config } = given;
    // A shell passes the word as it was typed, and bash also its quotes.
    const begin = current.replaceAll(/^["']|\\/g, '');
    const known = await read.values({ kind, rollout: values[0], typed: begin, url, config });
    // A name with a control character could not be typed.
    return known.filter(({ name }) => name !== '' && name === toOneLine(name));
  };
  if (asked !== undefined) return [...choicesOf(asked), ...(await valuesOf(asked.flags))];
  if (current.startsWith('-')) {
    const named = optionsOf(program, command).flatMap(({ long, description: help }) =>
      long ? [{ name: long, help }] : [],
    );
    return [...named, { name: '--help', help: 'show the help' }];
  }
  if (command.name() === 'help')
    return values.length === 0 ? [...commandsIn(program), ...(await read.topics())] : [];
  const last = command.registeredArguments.at(-1);
  const argument = command.registeredArguments[values.length] ?? (last?.variadic === true ? last : undefined);
  return [
    ...commandsIn(command),
    ...(argument === undefined ? [] : [...choicesOf(argument), ...(await valuesOf(argument.name()))]),
  ];
}

function commandsIn(command: Command): readonly Offer[] {
  return command.commands.map((each) => ({ name: each.name(), help: each.description() }));
}

/** Reads the words before the current one. Words that are no command are values. */
function readTyped(program: Command, typed: readonly string[]) {
  let command = program;
  let values: string[] = [];
  let asked: Option | undefined;
  const given: { url?: string; config?: string } = {};
  for (const word of typed) {
    if (asked !== undefined && word === '=') continue;
    if (asked !== undefined) {
      if (asked.long === '--url') given.url = word;
      if (asked.long === '--config') given.config = word;
      asked = undefined;
      continue;
    }
    const next = command.commands.find((each) => each.name() === word);
    if (next !== undefined) [command, values] = [next, []];
    else if (!word.startsWith('-')) values.push(word);
    else
      asked = optionsOf(program, command).find(
        ({ long, short, required }) => required && (long === word || short === word),
      );
  }
  return { command, values, asked, given };
}

function optionsOf(program: Command, command: Command): readonly Option[] {
  return [...new Set([...command.options, ...program.options])].filter(({ hidden }) => !hidden);
}

function choicesOf({ argChoices = [], description: help }: Pick<Argument, 'argChoices' | 'description'>) {
  return argChoices.map((name): Offer => ({ name, help }));
}
