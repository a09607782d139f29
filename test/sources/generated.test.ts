import { describe, expect, it } from 'vitest';
import { filesBelow, textOf } from './documents.ts';
import { generatedFiles } from './generated.ts';

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
