import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeProblems } from '../../../../src/config/source/describe-problems.ts';
import { explainIssue } from '../../../../src/config/source/explain-issue.ts';
import { parseYaml } from '../../../../src/config/source/yaml-source.ts';

const Menu = z.strictObject({
  dishes: z.array(z.union([z.string(), z.strictObject({ name: z.string(), price: z.number().max(100) })])),
  drinks: z.record(z.string().regex(/^[a-z]+$/, 'must be small letters'), z.boolean()).optional(),
});

function problems(text: string) {
  const source = parseYaml(text, 'menu.yaml');
  const result = Menu.safeParse(source.value, { error: explainIssue });
  return describeProblems(result.error?.issues ?? [], source).map(
    ({ file, line, column, path, message }) => `${file}:${line}:${column} ${path}: ${message}`,
  );
}

describe('describeProblems', () => {
  it('serves any schema: each problem with its place, in the order of the file', () => {
    const dishes = 'dishes:\n  - soup\n  - { name: 5, prize: 1, price: 500 }\n  - 7\n';
    expect(problems(`drink: {}\n${dishes}drinks: { A: yes }`)).toEqual([
      'menu.yaml:1:1 drink: unknown key "drink"; did you mean "drinks"?',
      'menu.yaml:4:13 dishes[1].name: must be text, not a number; put it in quotes',
      'menu.yaml:4:16 dishes[1].prize: unknown key "prize"; did you mean "price"?',
      'menu.yaml:4:33 dishes[1].price: must be at most 100',
      'menu.yaml:5:5 dishes[2]: must be text or a mapping of keys, not a number',
      'menu.yaml:6:11 drinks.A: must be small letters',
    ]);
  });

  it('tells of a missing part where the part around it stands', () => {
    expect(problems('drinks: {}')).toEqual(['menu.yaml:1:1 dishes: is missing; it must be a list']);
  });

  it('has nothing to say about a file that is right', () => {
    expect(problems('dishes: []')).toEqual([]);
  });
});
