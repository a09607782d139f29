import { expect, it } from 'vitest';
import { variantsOf } from '../../../src/rehearsal/result/variants.ts';
import { aFleet, aPolicy, aWaveRule } from '../../support/builders.ts';

it('policies that differ in one thing spread by what differs in the fleet, and have longer soaks and fewer at once', () => {
  const canary = aWaveRule({ name: 'canary', size: { kind: 'perStratum', count: 1 }, soakMs: 1_000 });
  const early = aWaveRule({ name: 'early', size: { kind: 'percent', percent: 10 }, soakMs: 1_000 });
  const policy = aPolicy({ waves: [canary, early, aWaveRule()], spreadBy: ['osName'], concurrency: 50 });
  const { collectors } = aFleet(200, (id) => ({
    osName: `os ${id % 3}`,
    osArch: 'amd64',
    hostName: `host ${id}`,
    fields: { rack: `r${id % 5}`, serial: String(id) },
  }));
  const variants = variantsOf(policy, collectors);
  expect(variants.map(({ name }) => name)).toEqual([
    'spreadBy: + fields.rack',
    'concurrency: a fifth',
    'isolate: attributes',
    'soak: twice as long',
    'soak: six times as long',
    'size: half (canaries unchanged)',
    'maxFailures: 0 before the last wave',
  ]);
  const bySoak = variants.find(({ name }) => name === 'soak: six times as long');
  expect(bySoak?.policy.waves.map(({ soakMs }) => soakMs)).toEqual([6_000, 6_000, aWaveRule().soakMs]);
  const bySize = variants.find(({ name }) => name.startsWith('size'));
  expect(bySize?.policy.waves[1]?.size).toEqual({ kind: 'percent', percent: 5 });
});
