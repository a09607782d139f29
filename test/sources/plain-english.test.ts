import { describe, expect, it } from 'vitest';
import { filesBelow, textOf } from './documents.ts';
import {
  commentsOfCode,
  configDescriptions,
  identifiersOfCode,
  linesOfGuides,
  textsOfCode,
  textsOfOperatorFiles,
} from './texts.ts';
import { fileWordTable, identifierWords, wordTable } from './word-table.ts';

describe('texts that people read have one word for one thing', () => {
  it.each(['cli', 'admin-api', 'config', 'docs', 'observability', 'contract/admin', 'rollout/messages'])(
    'in src/%s',
    (folder) => {
      const texts = textsOfCode(`src/${folder}`);
      expect(texts.length).toBeGreaterThan(15);
      expect(texts.flatMap(({ where, text }) => faultsIn(text, where))).toEqual([]);
    },
  );

  it('in the comments of src', () => {
    const comments = commentsOfCode('src');
    expect(comments.length).toBeGreaterThan(3_000);
    const table = wordTable.filter(({ textsOnly }) => textsOnly !== true);
    expect(comments.flatMap(({ where, text }) => faultsIn(text, where, table))).toEqual([]);
  });

  it('in the identifiers of src', () => {
    const names = identifiersOfCode('src');
    expect(names.length).toBeGreaterThan(10_000);
    expect(names.flatMap(({ where, text }) => faultsIn(text, where, identifierWords))).toEqual([]);
  });

  it('in the descriptions of the config', () => {
    expect(configDescriptions().length).toBeGreaterThan(80);
    expect(configDescriptions().flatMap((text) => faultsIn(text, 'config'))).toEqual([]);
  });

  it('in configs, units, images and alerts', () => {
    const texts = textsOfOperatorFiles();
    expect(texts.length).toBeGreaterThan(300);
    for (const file of ['config/production.yaml', 'deploy/prometheus/rules.yml', 'deploy/Dockerfile'])
      expect(texts.filter(({ where }) => where === file).length).toBeGreaterThan(5);
    expect(texts.flatMap(({ where, text }) => faultsIn(text, where, fileWordTable))).toEqual([]);
  });

  it('in the guides', () => {
    const lines = linesOfGuides();
    expect(lines.length).toBeGreaterThan(500);
    expect(lines.flatMap(({ where, text }) => faultsIn(text, where))).toEqual([]);
  });
});

it('texts have a singular and a plural, not a word that ends with "(s)"', () => {
  const texts = [...textsOfCode('src'), ...textsOfOperatorFiles(), ...linesOfGuides()];
  expect(texts.length).toBeGreaterThan(3_000);
  expect(
    texts.filter(({ text }) => /\w\((?:e?s|ies)\)(?!\w)/.test(text) && !text.includes('http(s)')),
  ).toEqual([]);
});

it('counts for people have one form: 1,023', () => {
  const own = filesBelow('src', /\.tsx?$/).filter((file) =>
    /toLocaleString\(|Intl\.NumberFormat/.test(textOf(file)),
  );
  expect(own).toEqual(['src/base/singular-or-plural.ts']);
});

describe('the documents', () => {
  it('describe each key of the config in sentences that end with a full stop', () => {
    expect(configDescriptions().filter((text) => !text.endsWith('.'))).toEqual([]);
  });

  it('begin with a README of 150 lines at most', () => {
    expect(textOf('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  });

  it('have tables of facts: 15 words at most in a cell', () => {
    const long = linesOfGuides()
      .filter(({ text }) => text.startsWith('|'))
      .flatMap(({ where, text }) => text.split(/(?<!\\)\|/).map((cell) => `${where}: ${cell.trim()}`))
      .filter((cell) => cell.split(' ').length > 16);
    expect(long).toEqual([]);
  });
});

function faultsIn(
  text: string,
  where: string,
  table: readonly { readonly use: string; readonly not: RegExp }[] = wordTable,
): string[] {
  return table
    .filter(({ not }) => not.test(text))
    .map(
      ({ use, not }) => `${where}: "${not.exec(text)?.[0]}" (write: ${use}) in: ${text.trim().slice(0, 200)}`,
    );
}
