import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { makeProgram } from '../../src/cli/program.ts';
import { makeSafeStreams } from '../../src/cli/shell/console-output.ts';
import { filesBelow, textOf } from './documents.ts';

const program = makeProgram(makeSafeStreams(process), false, () => undefined);
const documents = [
  'README.md',
  'config/README.md',
  'deploy/README.md',
  ...filesBelow('src/docs/guides', /\.md$/),
];
const commands = documents.flatMap((document) =>
  commandsIn(textOf(document)).map((words) => ({ document, words })),
);

it('every command line in the guides has a command, its options and not too many arguments', () => {
  expect(commands.length).toBeGreaterThan(200);
  const wrong = commands.flatMap(({ document, words }) => {
    const error = errorIn(words);
    return error === undefined ? [] : [`${document}: upwave ${words.join(' ')}: ${error}`];
  });
  expect(wrong).toEqual([]);
});

/** The words behind `upwave` of each command line, in text or in a block; a line that ends with `\` goes on in the next. */
function commandsIn(markdown: string): readonly (readonly string[])[] {
  const blocks = [...markdown.matchAll(/^```[^\n]*\n(.*?)^```/gms)].map(([, block = '']) => block);
  const lines = blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, ' ').split('\n'));
  const prose = markdown.replaceAll(/^```.*?^```/gms, '');
  const inText = [...prose.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replaceAll('\\|', '|'));
  return [...lines, ...inText].flatMap((line) => {
    // An answer of the daemon may name it, too, but begins otherwise.
    const [, rest] = /^\s*(?:\$ )?(?:UPWAVE_\w+=\S* )*upwave ([a-z].*)$/.exec(line) ?? [];
    return rest === undefined ? [] : [wordsOf(rest)];
  });
}

/** Up to a pipe, a redirection, another command or a comment, without quotes. */
function wordsOf(line: string): readonly string[] {
  const words: string[] = [];
  for (const [word] of line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)) {
    if (/^(?:[|&;#]|\d?>)/.test(word)) break;
    words.push(word.replaceAll(/["']/g, ''));
  }
  return words;
}

function errorIn(words: readonly string[]): string | undefined {
  let command: Command = program;
  let depth = 0;
  for (const word of words) {
    const below = command.commands.find((each) => each.name() === word);
    if (below === undefined) break;
    command = below;
    depth += 1;
  }
  if (depth === 0) return 'there is no such command';
  const operands: string[] = [];
  for (let at = depth; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (!word.startsWith('-')) {
      operands.push(word);
      continue;
    }
    const [flag] = word.split('=');
    const option = [...command.options, ...program.options, ...helpOptions].find(
      ({ short, long }) => short === flag || long === flag,
    );
    if (option === undefined) return `there is no option ${flag}`;
    if (option.required && !word.includes('=')) at += 1;
    if (at >= words.length) return `${flag} has no value`;
  }
  const most = command.registeredArguments;
  const isOpen = most.some(({ variadic }) => variadic);
  return operands.length > most.length && !isOpen ? `${operands.at(-1)} is too much` : undefined;
}

const helpOptions = [{ short: '-h', long: '--help', required: false }];
