import { describe, expect, it } from 'vitest';
import { accountText } from '../../../../src/rollout/messages/account-texts.ts';
import {
  type AccountStatus,
  hasMark,
  judgeAccount,
  needsPerson,
  withMark,
} from '../../../../src/rollout/model/account.ts';

const same = { name: 'web-1', nameShown: 'web-1' };
const renamed = { name: 'web-1', nameShown: 'db-7' };
const gone = { name: 'web-1', nameShown: undefined };

const mark = { origin: 'https://api.example.com', accessIdHash: 'a1' };
/** The access key was rotated. */
const linked = { marks: [mark], own: { ...mark, accessIdHash: 'a2' } };

function times<T>(count: number, of: T): readonly T[] {
  return Array.from({ length: count }, () => of);
}

describe('the account marks of a rollout', () => {
  it('name an account by origin and access id, both of them', () => {
    expect(hasMark([mark], { ...mark })).toBe(true);
    expect(hasMark([mark], { ...mark, accessIdHash: 'b2' })).toBe(false);
    expect(hasMark([mark], { ...mark, origin: 'https://api.eu.example.com' })).toBe(false);
  });

  it('keep the newest eight keys of an account, so that old and new daemons both know it', () => {
    const marks = Array.from({ length: 9 }, (_, index) => ({ ...mark, accessIdHash: String(index) }));
    const all = marks.reduce<ReturnType<typeof withMark>>((kept, each) => withMark(kept, each), []);
    expect(all.map(({ accessIdHash }) => accessIdHash)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8']);
  });
});

describe('whether a rollout of another access id belongs to this account (P5)', () => {
  it.each([
    ['all ids have their names', times(8, same), 'own'],
    ['three of three have', times(3, same), 'own'],
    ['one of eight was deleted meanwhile', [...times(7, same), gone], 'own'],
    ['all ids have other names', times(8, renamed), 'another'],
    ['no id is known', times(8, gone), 'another'],
    ['one of eight was renamed meanwhile', [...times(7, same), renamed], 'own'],
    ['one was renamed and one deleted', [...times(6, same), renamed, gone], 'own'],
    ['three have other names', [...times(5, same), ...times(3, renamed)], 'unclear'],
    ['half are gone', [...times(4, same), ...times(4, gone)], 'unclear'],
    ['two collectors are too few, also when both match (P14)', times(2, same), 'unclear'],
    ['there is none to compare (P14)', [], 'unclear'],
  ] as const)('%s', (_title, sample, kind) => {
    expect(judgeAccount(sample, linked).kind).toBe(kind);
  });

  it.each([
    ['a new access id alone', { accessIdHash: 'b2' }, 'own'],
    ['a new address alone', { origin: 'https://api.eu.example.com' }, 'own'],
    ['both', { origin: 'https://api.eu.example.com', accessIdHash: 'b2' }, 'unclear'],
  ])('%s: a fleet that matches shows it or not (P5)', (_what, changes, kind) => {
    const own = { ...mark, ...changes };
    expect(judgeAccount(times(8, same), { marks: [mark], own }).kind).toBe(kind);
    expect(judgeAccount(times(8, gone), { marks: [mark], own }).kind).toBe('another');
    // A corrupt record may have no marks.
    expect(judgeAccount(times(8, same), { marks: [], own }).kind).toBe('own');
  });

  it('says where a rollout began that a copy of its account may continue, and what to do', () => {
    const own = { origin: 'https://copy.example.com', accessIdHash: 'b2' };
    const status = judgeAccount(times(8, same), { marks: [mark], own });
    expect(status.kind === 'own' ? '' : accountText(status)).toMatch(
      /began at https:\/\/api.example.com with another access key, .* \(8 of 8\).* set service.baseUrl or the access key back, .* or abort it$/,
    );
  });

  it('needs an operator when it is another account, or unclear', () => {
    const kinds = ['own', 'unknown', 'another', 'unclear'] as const;
    const statusOf = (kind: (typeof kinds)[number]): AccountStatus => {
      const figures = { compared: 3, matched: 1, renamed: 0 };
      if (kind === 'own') return { kind };
      return kind === 'unknown' ? { kind, reason: '' } : { kind, ...figures };
    };
    expect(kinds.filter((kind) => needsPerson(statusOf(kind)))).toEqual(['another', 'unclear']);
  });

  it.each([
    [
      'that few match after a rotated key, and what to do',
      times(2, same),
      /2 under the same .*rotated.*: abort it, and/,
    ],
    ['that half are gone, without a word of keys', [...times(4, same), ...times(4, gone)], /^(?!.*rotated)/],
    [
      'that it is of another account, with figures and what to do',
      [...times(2, renamed), ...times(6, gone)],
      /^it belongs to another account: of 8 .* shows 0 under the same id and name, and 2 with another name. Set service/,
    ],
  ])('says %s', (_what, sample, words) => {
    const standing = judgeAccount(sample, linked);
    if (standing.kind === 'own') throw new Error('it is of this account');
    expect(accountText(standing)).toMatch(words);
  });
});
