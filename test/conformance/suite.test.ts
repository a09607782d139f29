import { expect, it } from 'vitest';
import { sectionOf, testableSections, writtenTestNames } from './support/sections.ts';

const tests = writtenTestNames(new URL('./', import.meta.url)).filter(({ file }) => file !== 'suite.test.ts');

it('suite: every test names the section that it verifies', () => {
  expect(tests.length).toBeGreaterThan(140);
  expect(
    tests.filter(({ name }) => !testableSections.some((section) => section === sectionOf(name))),
  ).toEqual([]);
});

it.each(testableSections)('suite: section %s has tests', (section) => {
  expect(tests.filter(({ name }) => sectionOf(name) === section).length).toBeGreaterThan(0);
});
