import type { Command } from 'commander';
import { nearestNames } from '../../base/names.ts';
import { guideGroups } from '../../docs/guide-list.ts';
import type { CommandRunner } from '../shell/command.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { exitCodes } from '../shell/exit-codes.ts';
import { commandsOf } from '../shell/program-help.ts';

/** Adds `upwave help`, for commands of several words and for the guides. */
export function addHelpProgram(program: Command, run: CommandRunner): void {
  program
    .helpCommand(false)
    .command('help')
    .argument('[words...]', 'a command such as `config check`, a guide such as `install`, or an alert')
    .description('show the help of a command, or a guide; without words, list both')
    .action(
      run(async () => (words: readonly string[], _options: unknown, output: ConsoleOutput) => {
        return showHelp(program, words, output);
      }),
    );
}

async function showHelp(program: Command, words: readonly string[], output: ConsoleOutput) {
  const command = commandsOf(program).find((each) => each.words.join(' ') === words.join(' '))?.command;
  // A guide may have the name of a command, such as `rehearse`: then both are shown.
  const { findHelpTopic, namedTopics, sectionTopics } = await import('./help-topic.ts');
  const topic = findHelpTopic(words, { columns: output.columns ?? columnsInPipe, paint: output.paint });
  if (command === undefined && topic === undefined) {
    const topics = [...namedTopics().map(({ name }) => name), ...sectionTopics(words[0] ?? '')];
    refuse(program, words, topics);
  }
  command?.outputHelp();
  if (words.length === 0) output.out.write(topicList());
  if (topic !== undefined) output.out.write(command === undefined ? topic.text() : `\n${topic.text()}`);
  return exitCodes.done;
}

const columnsInPipe = 80;

function topicList(): string {
  const longest = Math.max(...guideGroups.flatMap(({ guides }) => guides.map(({ name }) => name.length)));
  const groups = guideGroups.map(({ title, guides }) => {
    const lines = guides.map(({ name, answers }) => `  ${name.padEnd(longest)}  ${answers}\n`);
    return `\n${title}:\n${lines.join('')}`;
  });
  return `\nGuides (upwave help GUIDE prints one, and the daemon serves them at /docs/):\n${groups.join('')}`;
}

function refuse(program: Command, words: readonly string[], topics: readonly string[]): never {
  const text = words.join(' ');
  const known = [...commandsOf(program).map((each) => each.words.join(' ')), ...topics];
  // The first word of a guide is often what is remembered of its name.
  const [nearest] = nearestNames(text, known);
  const hint = nearest === undefined ? 'upwave help lists commands and guides' : `Did you mean ${nearest}?`;
  program.error(`error: unknown command '${text}', and no guide or alert has this name\n(${hint})`, {
    code: 'commander.unknownCommand',
  });
}
