import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../../../src/base/steps.ts';
import {
  formatAttributes,
  hasAttributes,
  joinTables,
  membersWith,
  parseAttributes,
  tabulateAttributes,
} from '../../../../src/rollout/model/attributes.ts';
import { aCollector, oldBuild } from '../../../support/builders.ts';

const inRack = (id: number, rack: string, more: Readonly<Record<string, string>> = {}) =>
  aCollector({ id, fields: { rack, ...more } });

describe('the attributes of collectors', () => {
  it('are the fields of the inventory, and the start of the host name', () => {
    const collector = aCollector({ category: '', fields: { rack: 'r7', empty: '' } });
    const { columns } = runAtOnce(tabulateAttributes([collector]));
    expect(Object.fromEntries(columns.map(({ key, values }) => [key, values[0]]))).toEqual({
      osName: 'Linux',
      osArch: 'amd64',
      collectorVersion: oldBuild,
      timeZone: 'Etc/UTC',
      sourceSyncMode: 'UI',
      ephemeral: 'lasting',
      hostPrefix: 'prod-web-',
      'fields.rack': 'r7',
    });
  });

  it.each([
    ['web-fra-017.example.com', 'web-fra-'],
    ['db01a', 'db'],
    ['localhost', 'localhost'],
    ['10', '10'],
  ])('begin %s as %s', (hostName, prefix) => {
    const collector = aCollector({ hostName });
    expect(hasAttributes(collector, [{ key: 'hostPrefix', value: prefix }])).toBe(true);
  });

  it('are bounded: 64 characters of a value, and the 24 most frequent fields', () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, field) => [`f${field}`, 'x']));
    const table = runAtOnce(tabulateAttributes([inRack(1, 'r'.repeat(99), many), inRack(2, 'r7')]));
    const fields = table.columns.filter(({ key }) => key.startsWith('fields.'));
    expect(fields).toHaveLength(24);
    expect(fields[0]).toEqual({ key: 'fields.rack', values: ['r'.repeat(64), 'r7'], cells: [0, 1] });
  });

  it('of late joiners are joined with those of the plan', () => {
    const plan = runAtOnce(tabulateAttributes([inRack(5, 'r7'), inRack(2, 'r8')]));
    const joiners = runAtOnce(tabulateAttributes([inRack(3, 'r7', { zone: 'b' }), inRack(5, 'r1')]));
    const table = joinTables([plan, joiners]);
    if (table === undefined) throw new Error('no table');
    expect(table.ids).toEqual([2, 3, 5]);
    expect(membersWith(table, [{ key: 'fields.rack', value: 'r7' }])).toEqual([3, 5]);
    expect(membersWith(table, [{ key: 'fields.rack', value: 'r*' }])).toEqual([2, 3, 5]);
    expect(membersWith(table, [{ key: 'fields.none', value: 'r7' }])).toEqual([]);
    const pair = [
      { key: 'fields.rack', value: 'r7' },
      { key: 'fields.zone', value: 'b' },
    ];
    expect(membersWith(table, pair)).toEqual([3]);
    expect(hasAttributes(inRack(9, 'r7', { zone: 'b' }), pair)).toBe(true);
    expect(hasAttributes(inRack(9, 'r7'), pair)).toBe(false);
  });

  it('are formatted so that they can be parsed again', () => {
    const pair = [
      { key: 'osName', value: 'Windows Server 2019' },
      { key: 'fields.rack', value: 'a=b' },
    ];
    expect(formatAttributes(pair)).toBe('osName=Windows Server 2019 and fields.rack=a=b');
    expect(parseAttributes(formatAttributes(pair))).toEqual(pair);
    for (const text of ['web-014', 'Linux / amd64', 'fields.=x', 'name=x', 'osName=', 'osName=x and y'])
      expect(parseAttributes(text)).toBeUndefined();
  });
});
