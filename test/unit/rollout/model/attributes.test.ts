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
      namePrefix: 'prod-web-',
      'fields.rack': 'r7',
    });
  });

  it.each([
    ['web-fra-017.example.com', 'web-fra-'],
    ['db01a', 'db'],
    ['localhost', 'localhost'],
    ['10', '10'],
  ])('begin %s as %s', (hostName, prefix) => {
    expect(hasAttributes(aCollector({ hostName }), [{ key: 'hostPrefix', value: prefix }])).toBe(true);
    const ofName = parseAttributes(`namePrefix=${prefix}`) ?? [];
    expect(hasAttributes(aCollector({ name: hostName }), ofName)).toBe(true);
  });

  it('are bounded: 64 characters of a value, and 64 fields', () => {
    const many = Object.fromEntries(Array.from({ length: 80 }, (_, field) => [`f${field}`, 'x']));
    const table = runAtOnce(tabulateAttributes([inRack(1, 'r'.repeat(99), many), inRack(2, 'r7')]));
    const fields = table.columns.filter(({ key }) => key.startsWith('fields.'));
    expect(fields).toHaveLength(64);
    const [rack] = fields;
    expect(rack).toMatchObject({ key: 'fields.rack', values: ['r'.repeat(64), 'r7'] });
    expect([...(rack?.cells ?? [])]).toEqual([0, 1]);
    // A field with one value tells nothing, so nobody misses it.
    expect(table.leftOut).toEqual([]);
  });

  it('keep the fields that can tell something: neither constant nor unique, however frequent', () => {
    const fleet = Array.from({ length: 300 }, (_, id) => {
      const constant = Object.fromEntries(Array.from({ length: 40 }, (__, at) => [`constant${at}`, 'x']));
      const unique = Object.fromEntries(
        Array.from({ length: 40 }, (__, at) => [`serial${at}`, `${at}-${id}`]),
      );
      // Not every collector has a rack; the rest is on all of them.
      const rack: Record<string, string> = id % 10 === 0 ? {} : { rack: `r${id % 20}` };
      return aCollector({ id: id + 1, fields: { ...constant, ...unique, ...rack } });
    });
    const { columns, leftOut } = runAtOnce(tabulateAttributes(fleet));
    const fields = columns.map(({ key }) => key).filter((key) => key.startsWith('fields.'));
    expect(fields).toHaveLength(64);
    expect(fields[0]).toBe('fields.rack');
    expect(leftOut).toEqual([]);
  });

  it('name the fields that could tell something, and have no room', () => {
    const shelves = (id: number) =>
      Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`f${at}`, `v${id % (at + 2)}`]));
    const fleet = Array.from({ length: 300 }, (_, id) => aCollector({ id: id + 1, fields: shelves(id) }));
    const { columns, leftOut } = runAtOnce(tabulateAttributes(fleet));
    expect(columns.filter(({ key }) => key.startsWith('fields.'))).toHaveLength(64);
    // The more equal groups, the more a field tells.
    expect(leftOut).toEqual(['f5', 'f4', 'f3', 'f2', 'f1', 'f0']);
    const joined = runAtOnce(tabulateAttributes(fleet.slice(0, 2), leftOut));
    expect(joined.columns.map(({ key }) => key).toSorted()).toEqual(columns.map(({ key }) => key).toSorted());
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
