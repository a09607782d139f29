import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ListScan, textOfRow } from '../../../src/http/list-scan.ts';

/** Scans a body in pieces that end at these places. */
function scan(text: string, cuts: readonly number[] = []) {
  const body = Buffer.from(text);
  const list = new ListScan();
  let from = 0;
  let excess: string | undefined;
  for (const cut of [...cuts.map((at) => at % (body.length + 1)), body.length].toSorted((a, b) => a - b)) {
    excess ??= list.push(body.subarray(from, cut));
    from = cut;
  }
  const rowsOf = (number: number) => list.rows(body, number).map((place) => textOfRow(body, place));
  return { excess, frame: list.frame(body), rowsOf };
}

describe('ListScan', () => {
  it('finds each row of each list, whatever is in it and however its bytes arrive', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue()),
        fc.array(fc.jsonValue()),
        fc.jsonValue(),
        fc.array(fc.nat(), { maxLength: 5 }),
        fc.constantFrom(undefined, 1),
        (rows, others, odd, cuts, space) => {
          const more = Array.isArray(odd) ? {} : { odd };
          const text = JSON.stringify({ '"[': others, ...more, rows }, null, space);
          const { frame, rowsOf } = scan(text, cuts);
          expect(JSON.parse(frame ?? '')).toEqual(
            JSON.parse(JSON.stringify({ '"[': [0], ...more, rows: [1] })),
          );
          const read = (number: number) => rowsOf(number).map((row) => JSON.parse(row ?? '') as unknown);
          expect([read(0), read(1)]).toEqual(JSON.parse(JSON.stringify([others, rows])));
        },
      ),
    );
  });

  it.each([
    ['{"rows":[1', '{"rows":[0'],
    ['{"rows":[1]}}', '{"rows":[0]}}'],
    ['{"rows":[1,2}', '{"rows":[0,2}'],
    ['{"rows":{"a":1,"b":2}}', '{"rows":{"a":1,"b":2}}'],
    ['<html>', '<html>'],
  ])('leaves what is wrong around the rows: %s', (text, frame) => {
    expect(scan(text).frame).toBe(frame);
  });

  it('leaves a row out that is too large, and not the others', () => {
    const { rowsOf } = scan(`{"rows":[1,${'['.repeat(200_000)}${']'.repeat(200_000)},2]}`);
    expect(rowsOf(0)).toEqual(['1', undefined, '2']);
  });

  it.each([
    [10_000, 'rows', (count: number) => `{"rows":[${Array(count).fill('{}').join()}]}`],
    [100, 'lists', (count: number) => `{${Array(count).fill('"a":[]').join()},"rows":0}`],
    [100, 'lists', (count: number) => `{${'[}'.repeat(count)}`],
  ])('stops at more than %i %s', (most, what, bodyOf) => {
    expect(scan(bodyOf(most)).excess).toBeUndefined();
    expect(scan(bodyOf(most + 1)).excess).toBe(`more than ${most} ${what}`);
  });

  it.each([
    ['spaces', `${' '.repeat(70_000)}{"rows":[]}`],
    ['other values', `{"rows":[],"x":{"a":"${'x'.repeat(70_000)}"}}`],
  ])('has no frame where the list has too many %s around it', (_name, text) => {
    expect(scan(text).frame).toBeUndefined();
  });
});
