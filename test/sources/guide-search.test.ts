import { describe, expect, it } from 'vitest';
import { makeProgram } from '../../src/cli/program.ts';
import { makeSafeStreams } from '../../src/cli/shell/console-output.ts';
import { commandsOf } from '../../src/cli/shell/program-help.ts';
import { loadGuides, termsOf } from '../../src/docs/load-guides.ts';
import { findSections } from '../../src/docs/page/find-sections.ts';
import { searchIndex } from '../../src/docs/search-index.ts';
import { textOf } from './documents.ts';

const guides = loadGuides();
const index = searchIndex(guides);
const program = makeProgram(makeSafeStreams(process), false, () => undefined);
const termsIn = (name: string) =>
  guides
    .filter((guide) => guide.name === name)
    .flatMap((guide) => guide.sections.flatMap((section) => termsOf(guide, section)));
const named = (pattern: RegExp, path: string) =>
  [...textOf(path).matchAll(pattern)].map(([, name = '']) => name);

// As many as are read without scrolling.
const seenMax = 3;

describe('what is searched by its name is found in one search', () => {
  it.each([
    { what: 'alert', names: named(/alert: (\w+)/g, 'deploy/prometheus/rules.yml'), in: 'alerts', least: 30 },
    { what: 'metric', names: termsIn('metrics').map(({ name }) => name), in: 'metrics', least: 40 },
    {
      what: 'key',
      names: termsIn('config-reference').map(({ name }) => name),
      in: 'config-reference',
      least: 100,
    },
    {
      what: 'command',
      names: commandsOf(program)
        .filter(({ command, words }) => words.length > 0 && command.commands.length === 0)
        .map(({ words }) => `upwave ${words.join(' ')}`),
      in: 'commands',
      least: 30,
    },
  ])('each $what', ({ names, in: guide, least }) => {
    expect(names.length).toBeGreaterThan(least);
    const missed = names.filter((name) => {
      const found = findSections(index, name).slice(0, seenMax);
      return !found.some((entry) => entry.guide === guide && entry.title.startsWith(name));
    });
    expect(missed).toEqual([]);
  });
});
