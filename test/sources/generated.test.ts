import { describe, expect, it } from 'vitest';
import { ConfigFile } from '../../src/config/schema/config-file.ts';
import { filesBelow, textOf } from './documents.ts';
import { generatedFiles } from './generated.ts';
import { moreExamples } from './references/config-examples.ts';

describe('a generated file', async () => {
  it.each(await generatedFiles())('$path is up to date; if not, run: npm run generate', ({ path, text }) => {
    expect(textOf(path)).toBe(text);
  });
});

describe('the reference of events', () => {
  it('has every event that the code names', () => {
    const named = filesBelow('src', /\.ts$/).flatMap((file) =>
      [...textOf(file).matchAll(/\bevent: '([a-z]+\.[A-Za-z]+)'/g)].map(([, name = '']) => name),
    );
    expect(new Set(named).size).toBeGreaterThan(60);
    const guide = textOf('src/docs/guides/events.md');
    expect([...new Set(named)].filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('the examples of the config reference', () => {
  it.each(moreExamples.map((example) => [example]))('are parts of a valid config: %#', (example) => {
    const text = JSON.stringify(example)
      .replaceAll(/\$\{\w+_URL\}/g, 'https://hooks.example.com/path')
      .replaceAll(/\$\{\w+\}/g, 'a-value-of-the-environment');
    expect(ConfigFile.safeParse(JSON.parse(text)).error?.issues).toBeUndefined();
  });
});
