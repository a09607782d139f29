import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { followRollouts } from '../../../../src/cli/run/follow-rollouts.ts';
import { makeProgress } from '../../../../src/cli/run/progress.ts';
import type { RolloutStatus } from '../../../../src/contract/admin/rollout-status.ts';
import { startedAt } from '../../../support/builders.ts';
import { aRolloutStatus, countsOf, makeFakeOperations } from '../../../support/fake-operations.ts';

const idle = countsOf({ pending: 1 });

/** Answers each poll with the next of these, and then always with the last one. */
function seen(...looks: ReadonlyArray<readonly RolloutStatus[]>) {
  let look = -1;
  return {
    rolloutStatus: async (id: string) => {
      if (id === 'a') look = Math.min(look + 1, looks.length - 1);
      return looks[look]?.find((status) => status.id === id);
    },
  };
}

async function follow(
  operations: Pick<ReturnType<typeof makeFakeOperations>, 'rolloutStatus'>,
  ...ids: string[]
) {
  const out = new PassThrough();
  const output = { out, err: out, isLive: false, paint: (_format: unknown, text: string) => text };
  const signal = AbortSignal.timeout(20_000);
  const progress = await makeProgress(output);
  const statuses = await followRollouts(operations, ids, progress, { wait: false }, signal);
  expect(signal.aborted).toBe(false);
  return {
    ids: statuses.map(({ id }) => id),
    states: statuses.map(({ state }) => state),
    text: String(out.read() ?? ''),
  };
}

describe('following rollouts', () => {
  it('ends when each has ended, is held, or waits for approval, and shows each', async () => {
    const rollouts = [
      aRolloutStatus({ id: 'a', state: 'succeeded', endedAt: startedAt }),
      aRolloutStatus({ id: 'b', state: 'held', counts: idle }),
      aRolloutStatus({ id: 'c', state: 'awaitingApproval', counts: idle }),
    ];
    const { ids, text } = await follow(makeFakeOperations({ rollouts }), 'a', 'b', 'c');
    expect(ids).toEqual(['a', 'b', 'c']);
    for (const id of ids) expect(text).toMatch(new RegExp(`^${id} {2}`, 'm'));
  });

  it('ends at once where nothing was started', async () => {
    expect((await follow(makeFakeOperations({ rollouts: [] }))).ids).toEqual([]);
  });

  it('continues while one is running, and during an outage of a store', async () => {
    const running = aRolloutStatus({ id: 'a' });
    const ended = aRolloutStatus({ id: 'a', state: 'succeeded', endedAt: startedAt });
    expect((await follow(seen([running], [], [ended]), 'a')).states).toEqual(['succeeded']);
  });

  it('waits during an outage of Redis only: an error of another kind ends it', async () => {
    const ended = aRolloutStatus({ id: 'a', state: 'succeeded', endedAt: startedAt });
    const failing = (error: Error) => {
      let asked = 0;
      return {
        rolloutStatus: async () => {
          asked += 1;
          if (asked === 1) throw error;
          return ended;
        },
      };
    };
    const away = failing(new Error('Connection is closed.'));
    expect((await follow(away, 'a')).states).toEqual(['succeeded']);
    await expect(follow(failing(new TypeError('a bug')), 'a')).rejects.toThrow('a bug');
  });

  it('follows a rollback to its end, from the moment it is named', async () => {
    const taken = aRolloutStatus({ id: 'a', state: 'rollingBack', rollbackId: 'b', counts: idle });
    const rollback = aRolloutStatus({ id: 'b', kind: 'rollback', rollbackOf: 'a' });
    const back = { ...rollback, state: 'succeeded', endedAt: startedAt } as const;
    const over = { ...taken, state: 'rolledBack', endedAt: startedAt } as const;
    const { ids, states } = await follow(seen([taken], [taken, rollback], [taken, back], [over, back]), 'a');
    expect(ids).toEqual(['a', 'b']);
    expect(states).toEqual(['rolledBack', 'succeeded']);
  });
});
