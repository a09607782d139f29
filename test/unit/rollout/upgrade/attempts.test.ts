import { describe, expect, it } from 'vitest';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import { attemptsOf } from '../../../../src/rollout/status/attempt-status.ts';
import type { UpgradeFact } from '../../../../src/rollout/upgrade/facts.ts';
import { anUpgrade, because, startedAt as t } from '../../../support/builders.ts';
import {
  afterFacts,
  anEndedOne,
  aStartingOne,
  collectorSeen,
  createRefused,
} from '../../../support/upgrade-cases.ts';

const minute = 60_000;

/** The record after these facts, a minute apart. */
const recordAfter = (upgrade: Upgrade, ...facts: readonly UpgradeFact[]): Upgrade =>
  afterFacts(upgrade, ...facts.map((fact, index) => ({ ...fact, at: t + index * minute })));

const started = (taskId: string): readonly UpgradeFact[] => [
  { kind: 'admitted', at: t, startBy: null, changes: 0 },
  { kind: 'createSent', at: t },
  { kind: 'created', at: t, taskId },
];
const seen = (message: string): readonly UpgradeFact[] => [
  { kind: 'taskSeen', at: t, status: 3, message, serviceAt: null },
  collectorSeen({ lastSeenAlive: t + 3_600_000, serviceAt: null }),
];
const pending = anUpgrade({ state: 'pending' });

describe('the attempts of an upgrade', () => {
  it('have task, start, end, outcome and reason, the last one from the record', () => {
    const down = [...started('41'), ...seen('network is down')];
    expect(attemptsOf(recordAfter(pending, ...started('41')))).toEqual([
      { taskId: '41', startedAt: t + 2 * minute, endedAt: null, state: 'upgrading', reason: '' },
    ]);
    const first = { taskId: '41', startedAt: t + 2 * minute, endedAt: t + 4 * minute };
    const retrying = { ...first, state: 'retrying', reason: 'network is down' };
    expect(attemptsOf(recordAfter(pending, ...down))).toEqual([retrying]);
    const second = { taskId: '42', startedAt: t + 7 * minute, endedAt: t + 9 * minute };
    expect(attemptsOf(recordAfter(pending, ...down, ...started('42'), ...seen('disabled')))).toEqual([
      retrying,
      { ...second, state: 'failed', reason: 'disabled' },
    ]);
  });

  it('show a success that did not last with its later outcome', () => {
    const tasks = [{ taskId: '41', startedAt: t }];
    const regressed = { kind: 'regressed', at: t, reason: because('it died'), lost: true } as const;
    const lost = recordAfter(anEndedOne('succeeded', {}, { tasks }), regressed);
    expect(attemptsOf(lost)).toMatchObject([{ taskId: '41', state: 'unconfirmed', reason: 'it died' }]);
  });

  it('include a create that was refused, without a task', () => {
    const start = started('').slice(0, 2);
    expect(attemptsOf(recordAfter(pending, ...start, createRefused('odd')))).toMatchObject([
      { taskId: null, startedAt: t + minute, state: 'retrying' },
    ]);
    // It spends no attempt, and there is nothing to retry.
    const hosted = recordAfter(pending, ...start, createRefused('collector.type.invalid'));
    expect(hosted.progress.state).toBe('failed');
  });

  it('name the task of an adopted upgrade once its answer arrived, and stay bounded', () => {
    const inDoubt = aStartingOne({}, { createsInDoubt: 1 });
    const adopted = recordAfter(inDoubt, createRefused('collector.in.upgrading'));
    expect(attemptsOf(adopted)).toMatchObject([{ taskId: null, state: 'upgrading' }]);
    const created = { kind: 'created', at: t, taskId: '43' } as const;
    expect(attemptsOf(recordAfter(adopted, created))).toMatchObject([{ taskId: '43' }]);
    const again = { kind: 'retryAsked', at: t, reason: because('') } as const;
    let record: Upgrade = pending;
    for (let turn = 0; turn < 30; turn += 1)
      record = recordAfter(record, ...started(`${turn}`), ...seen('disabled'), again);
    expect(attemptsOf(record)).toHaveLength(10);
    expect(attemptsOf(record).at(-1)).toMatchObject({ taskId: '29', state: 'failed' });
  });
});
