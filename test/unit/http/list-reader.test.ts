import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeTurnBudget, type TurnBudget } from '../../../src/base/turn-budget.ts';
import { UnreadableBody } from '../../../src/http/body-reader.ts';
import { readJson } from '../../../src/http/json-text.ts';
import { makeListReader } from '../../../src/http/list-reader.ts';

const mebibyte = 1024 * 1024;
/** Never spent: a test that asks for no slices gets none. */
const endless: TurnBudget = { isSpent: () => false, next: async () => {} };

interface Reading {
  readonly chunkBytes?: number;
  readonly decode?: (value: unknown) => unknown;
  readonly turn?: TurnBudget;
}

async function read(
  body: string | Uint8Array,
  { chunkBytes = 64 * 1024, decode = (value) => value, turn = endless }: Reading = {},
) {
  const reader = makeListReader({ key: 'rows', decode, turn });
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    await reader.push(bytes.subarray(at, at + chunkBytes));
  }
  return reader.end();
}

async function rowsOf(body: string | Uint8Array, reading?: Reading): Promise<readonly unknown[]> {
  const answer = await read(body, reading);
  if (answer.kind !== 'list') throw new Error(`no list: ${answer.kind}`);
  return answer.page.rows;
}

const kindOf = async (body: string): Promise<string> =>
  read(body).then(
    ({ kind }) => kind,
    (error: unknown) => {
      if (error instanceof UnreadableBody) return error.kind;
      throw error;
    },
  );

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('makeListReader', () => {
  it('reads what is read of the whole body, however the bytes are cut', async () => {
    const json = fc.jsonValue({ maxDepth: 4 }).filter((value) => !JSON.stringify(value).includes('"rows"'));
    await fc.assert(
      fc.asyncProperty(
        fc.array(json, { maxLength: 8 }),
        json,
        json,
        fc.constantFrom(undefined, 1, '\t'),
        fc.integer({ min: 1, max: 40 }),
        async (rows, before, after, indent, chunkBytes) => {
          const body = JSON.stringify({ a: 'rows', before, rows, after }, null, indent);
          const whole = readJson(body);
          expect(whole).toMatchObject({ value: { rows: await rowsOf(body, { chunkBytes }) } });
        },
      ),
      { numRuns: 200 },
    );
  });

  it('ends, as a list, as something else or as unreadable, for any bytes', async () => {
    const marks = fc.constantFrom(...'{}[]"\\,:1 '.split(''), 'rows', '"rows":[');
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 80 }),
      fc.string({ maxLength: 60 }).map((text) => Buffer.from(`{"rows":[${text}`)),
      fc.array(marks, { maxLength: 40 }).map((parts) => Buffer.from(parts.join(''))),
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (body) => {
        const text = Buffer.from(body).toString();
        const kind = await kindOf(text);
        // What is not JSON is never a list.
        if (!isJson(text)) expect(['other', 'undecodable', 'empty', 'tooDeep']).toContain(kind);
      }),
      { numRuns: 1_000 },
    );
  });

  it('keeps every digit of a 64-bit id, and characters that are cut between two pieces', async () => {
    const body = '{"rows":[{"id":9223372036854775807,"name":"Kölñ 😀"}]}';
    expect(await rowsOf(body, { chunkBytes: 1 })).toEqual([{ id: '9223372036854775807', name: 'Kölñ 😀' }]);
  });

  it.each([
    ['{"rows":[]}', 'list'],
    ['{"rows":[ ]}', 'list'],
    ['{"rows":{}}', 'json'],
    ['{"x":["rows"],"y":[1]}', 'json'],
    ['{"x":{"rows":[1]}}', 'json'],
    ['[1]', 'json'],
    ['', 'empty'],
    ['<html>', 'other'],
    ['{"rows":[1', 'other'],
    ['{"rows":[1]', 'other'],
    ['{"rows":[1]}}', 'other'],
    ['{"rows":[1,]}', 'undecodable'],
    ['{"rows":[,1]}', 'undecodable'],
    ['{"rows":[1}', 'undecodable'],
    ['{"rows":[{]}]}', 'undecodable'],
    [`{"x":${'['.repeat(101)}`, 'tooDeep'],
  ])('takes %s for %s', async (body, kind) => {
    expect(await kindOf(body)).toBe(kind);
  });

  it('gives null, at its place, for a row that is unknown, too large or nested too deep', async () => {
    const deep = `${'['.repeat(5_000_000)}${']'.repeat(5_000_000)}`;
    const decode = (value: unknown) => (typeof value === 'object' ? value : null);
    const body = `{"rows":[{"a":1},7,"${'x'.repeat(200_000)}",${deep},{"b":2}]}`;
    expect(await rowsOf(body, { decode })).toEqual([{ a: 1 }, null, null, null, { b: 2 }]);
  });

  it('gives up a list of more than 10,000 rows, at the first one too many', async () => {
    let decoded = 0;
    const decode = () => {
      decoded += 1;
      return null;
    };
    await expect(read(`{"rows":[${'0,'.repeat(950_000)}0]}`, { decode })).rejects.toThrow('tooLarge');
    expect(decoded).toBe(10_000);
    expect(await rowsOf(`{"rows":[${'0,'.repeat(9_999)}0]}`)).toHaveLength(10_000);
  });

  it('gives up a body of more than 32 MiB, and more than one around the list', async () => {
    const fat = `{"name":"${'x'.repeat(60_000)}"},`;
    const decode = () => null;
    await expect(read(`{"rows":[${fat.repeat(600)}`, { decode })).rejects.toThrow('tooLarge');
    await expect(read(`{"rest":"${'x'.repeat(mebibyte)}`, { decode })).rejects.toThrow('tooLarge');
  });

  it('yields as soon as a turn is spent, and goes on behind the row at which it stopped', async () => {
    let rowsOfTurn = 0;
    let turns = 0;
    const turn: TurnBudget = {
      isSpent: () => rowsOfTurn >= 100,
      next: async () => {
        turns += 1;
        rowsOfTurn = 0;
      },
    };
    const decode = (value: unknown) => {
      rowsOfTurn += 1;
      expect(rowsOfTurn).toBeLessThanOrEqual(100);
      return value;
    };
    const rows = Array.from({ length: 10_000 }, (_, id) => ({ id }));
    expect(await rowsOf(JSON.stringify({ rows }), { decode, turn })).toEqual(rows);
    expect(turns).toBeGreaterThanOrEqual(99);
  });

  it('knows about how much memory the rows take, of what is kept alone', async () => {
    const rows = Array.from({ length: 1_000 }, (_, id) => ({ id, name: 'x'.repeat(100), more: [1, 2, 3] }));
    const all = await read(JSON.stringify({ rows }));
    const ids = await read(JSON.stringify({ rows }), { decode: () => ({ id: 1 }) });
    if (all.kind !== 'list' || ids.kind !== 'list') throw new Error('no list');
    expect(all.page.weight).toBeGreaterThan(100_000);
    expect(ids.page.weight).toBeLessThan(100_001);
  });
});

describe('makeTurnBudget', () => {
  it('is spent after 8 ms of a turn, for all that share it, and renewed in the next turn', async () => {
    let now = 0;
    const turn = makeTurnBudget({ now: () => now });
    const spentAt = (at: number) => {
      now = at;
      return turn.isSpent();
    };
    expect([0, 7, 8].map(spentAt)).toEqual([false, false, true]);
    await turn.next();
    expect(turn.isSpent()).toBe(false);
  });
});
