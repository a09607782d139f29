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
  return describeProblems(result.error?.issues ?? [], source);
}

describe('describeProblems', () => {
  it('serves any schema: each problem with its place, in the order of the file', () => {
    expect(
      problems(
        'drink: {}\ndishes:\n  - soup\n  - { name: 5, prize: 1, price: 500 }\n  - 7\ndrinks: { A: yes }',
      ),
    ).toEqual([
      {
        file: 'menu.yaml',
        line: 1,
        column: 1,
        path: 'drink',
        message: 'unknown key "drink"; did you mean "drinks"?',
      },
      {
        file: 'menu.yaml',
        line: 4,
        column: 13,
        path: 'dishes[1].name',
        message: 'must be text, not a number; put it in quotes',
      },
      {
        file: 'menu.yaml',
        line: 4,
        column: 16,
        path: 'dishes[1].prize',
        message: 'unknown key "prize"; did you mean "price"?',
      },
      { file: 'menu.yaml', line: 4, column: 33, path: 'dishes[1].price', message: 'must be at most 100' },
      {
        file: 'menu.yaml',
        line: 5,
        column: 5,
        path: 'dishes[2]',
        message: 'must be text or a mapping of keys, not a number',
      },
      { file: 'menu.yaml', line: 6, column: 11, path: 'drinks.A', message: 'must be small letters' },
    ]);
  });

  it('tells of a missing part where the part around it stands', () => {
    expect(problems('drinks: {}')).toEqual([
      { file: 'menu.yaml', line: 1, column: 1, path: 'dishes', message: 'is missing; it must be a list' },
    ]);
  });

  it('has nothing to say about a file that is right', () => {
    expect(problems('dishes: []')).toEqual([]);
  });
});
