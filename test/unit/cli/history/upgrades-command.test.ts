import { describe, expect, it } from 'vitest';
import { renderUpgrades } from '../../../../src/cli/history/upgrades-command.ts';
import { showMinute } from '../../../../src/cli/shell/show-instant.ts';
import type { UpgradeBody } from '../../../../src/contract/admin/rollout-status.ts';
import { startedAt } from '../../../support/builders.ts';

const plain = { paint: (_color: unknown, text: string) => text };

const done: UpgradeBody = {
  collectorId: 101,
  collectorName: 'web-101',
  wave: 'canary',
  stratum: 'Linux / amd64',
  group: null,
  order: 0,
  state: 'unconfirmed',
  reason: 'did not come back within 30m',
  reasonKind: 'notBack',
  fromBuild: '19.525-63',
  toBuild: '19.536-4',
  attempts: 1,
  taskId: null,
  startedAt,
  dueAt: null,
  endedAt: startedAt + 240_000,
  failureClass: 'permanent',
};
const running: UpgradeBody = { ...done, collectorId: 7, state: 'upgrading', reason: null, endedAt: null };
const waiting: UpgradeBody = { ...running, state: 'pending', reason: 'was waiting', startedAt: null };

describe('the list of upgrades', () => {
  it('has a heading for each column, and words at each time', () => {
    const [head = '', ended = '', open = ''] = renderUpgrades([done, running], startedAt, plain).split('\n');
    expect(head.split(/ +/)).toEqual(['collector', 'id', 'wave', 'state', 'time', 'reason']);
    expect(ended).toContain(`  ended ${showMinute(startedAt + 240_000, startedAt)} `);
    expect(open).toContain(`  started ${showMinute(startedAt, startedAt)}`);
    expect(ended.indexOf('ended')).toBe(head.indexOf('time'));
  });

  it('keeps the reason of a collector that has not started in its column', () => {
    const [head = '', , last = ''] = renderUpgrades([done, waiting], startedAt, plain).split('\n');
    expect(last.indexOf('was waiting')).toBe(head.indexOf('reason'));
  });

  it.each([
    ['next to the other cells', 'web-101'],
    ['below them where these are wide', 'a-collector-with-a-long-name'],
  ])('breaks a long reason %s', (_where, collectorName) => {
    const long = { ...done, collectorName, reason: 'unable to remove a file of the old build '.repeat(3) };
    const lines = renderUpgrades([long, running], startedAt, { ...plain, columns: 80 }).split('\n');
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
    expect(lines.join(' ').replaceAll(/\s+/g, ' ')).toContain(long.reason.trim());
  });
});
