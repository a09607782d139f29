import { describe, expect, it } from 'vitest';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import { attemptsOf } from '../../../../src/rollout/status/attempt-status.ts';
import { evolve } from '../../../../src/rollout/upgrade/evolve.ts';
import type { UpgradeFact } from '../../../../src/rollout/upgrade/facts.ts';
import { anUpgrade, aPolicy, because, startedAt as t } from '../../../support/builders.ts';

const minute = 60_000;
const context = { policy: aPolicy(), answerWithinMs: 35_000, jitter: 0 };
type Step = UpgradeFact extends infer Fact ? (Fact extends UpgradeFact ? Omit<Fact, 'at'> : never) : never;

/** The record after these facts, a minute apart. */
function recordAfter(upgrade: Upgrade, ...facts: readonly Step[]): Upgrade {
  return facts.reduce<Upgrade>(
    (record, fact, index) => evolve(record, { ...fact, at: t + index * minute } as UpgradeFact, context),
    upgrade,
  );
}

const started = (taskId: string): readonly Step[] => [
  { kind: 'admitted', startBy: null },
  { kind: 'createSent' },
  { kind: 'created', taskId },
];
const seen = (message: string): readonly Step[] => [
  { kind: 'taskSeen', status: 3, message, serviceAt: null },
  {
    kind: 'collectorSeen',
    build: '19.441-2',
    alive: true,
    lastSeenAlive: t + 3_600_000,
    serviceAt: null,
    upgradable: null,
  },
];
const pending = anUpgrade({ state: 'pending' }, { fromBuild: '19.441-2' });

describe('the attempts of an upgrade', () => {
  it('have task, start, end, outcome and reason; the last one that of the record', () => {
    const running = recordAfter(pending, ...started('41'));
    expect(attemptsOf(running)).toEqual([
      { taskId: '41', startedAt: t + 2 * minute, endedAt: null, state: 'upgrading', reason: '' },
    ]);
    const retrying = recordAfter(pending, ...started('41'), ...seen('network is down'));
    expect(attemptsOf(retrying)).toEqual([
      {
        taskId: '41',
        startedAt: t + 2 * minute,
        endedAt: t + 4 * minute,
        state: 'retrying',
        reason: 'network is down',
      },
    ]);
    const failed = recordAfter(
      pending,
      ...started('41'),
      ...seen('network is down'),
      ...started('42'),
      ...seen('disabled'),
    );
    expect(attemptsOf(failed)).toEqual([
      attemptsOf(retrying)[0],
      {
        taskId: '42',
        startedAt: t + 7 * minute,
        endedAt: t + 9 * minute,
        state: 'failed',
        reason: 'disabled',
      },
    ]);
  });

  it('show a success that did not last as what became of it', () => {
    const tasks = [{ taskId: '41', startedAt: t }];
    const end = { endedAt: t, reason: because('on the build'), weight: 0, lost: false };
    const upgrade = anUpgrade({ state: 'succeeded', ...end }, { tasks });
    const lost = recordAfter(upgrade, { kind: 'regressed', reason: because('it died'), lost: true });
    expect(attemptsOf(lost)).toMatchObject([{ taskId: '41', state: 'unconfirmed', reason: 'it died' }]);
  });

  it('count a create that was refused for good, which has no task', () => {
    const failure = { kind: 'refused', code: 'collector.type.invalid', detail: 'is hosted' } as const;
    const odd = { kind: 'refused', code: 'odd', detail: 'no' } as const;
    const start = started('').slice(0, 2);
    const refused = recordAfter(pending, ...start, { kind: 'createFailed', failure: odd });
    expect(attemptsOf(refused)).toMatchObject([{ taskId: null, startedAt: t + minute, state: 'retrying' }]);
    // It spends no attempt, and there is nothing to retry.
    expect(recordAfter(pending, ...start, { kind: 'createFailed', failure }).progress.state).toBe('failed');
  });

  it('name the task of an adopted upgrade once its answer came, and stay few', () => {
    const doubted = anUpgrade(
      { state: 'starting', sentAt: t, dueAt: t, startBy: null },
      { createsInDoubt: 1 },
    );
    const busy = { kind: 'refused', code: 'collector.in.upgrading', detail: '' } as const;
    const adopted = recordAfter(doubted, { kind: 'createFailed', failure: busy });
    expect(attemptsOf(adopted)).toMatchObject([{ taskId: null, state: 'upgrading' }]);
    expect(attemptsOf(recordAfter(adopted, { kind: 'created', taskId: '43' }))).toMatchObject([
      { taskId: '43' },
    ]);
    let record: Upgrade = pending;
    for (let turn = 0; turn < 30; turn += 1)
      record = recordAfter(record, ...started(`${turn}`), ...seen('disabled'), {
        kind: 'retryAsked',
        reason: because(''),
      });
    expect(attemptsOf(record)).toHaveLength(10);
    expect(attemptsOf(record).at(-1)).toMatchObject({ taskId: '29', state: 'failed' });
  });
});
