import { describe, expect, it } from 'vitest';
import { noticeWords } from '../../../../src/rollout/messages/notices.ts';
import { dueOfRollout, type ToldRollout } from '../../../../src/rollout/notices/due-notices.ts';
import { dueOfPolicy, type ScanReading } from '../../../../src/rollout/notices/due-of-policy.ts';
import type { RolloutStatus } from '../../../../src/rollout/status/status.ts';
import { startedAt } from '../../../support/builders.ts';
import { aRolloutStatus, aWaveStatus } from '../../../support/fake-operations.ts';

const minute = 60_000;
const patienceMs = 60 * minute;

/** Reads these statuses one after the other, a minute apart. @returns what was announced at each */
function announced(...statuses: readonly RolloutStatus[]): string[][] {
  let told: ToldRollout | undefined;
  return statuses.map((status, index) => {
    const due = dueOfRollout(told, status, { now: startedAt + index * minute, since: startedAt, patienceMs });
    told = due.told;
    return due.notices.map(({ news, phase }) => (phase === 'once' ? news.event : `${news.event} ${phase}`));
  });
}

const running = aRolloutStatus();
const held = aRolloutStatus({
  state: 'held',
  hold: 7,
  reason: 'wave canary: failures 3, allowed 2',
  verbs: ['resume', 'abort'],
});
const ended = aRolloutStatus({ state: 'finishedWithFailures', endedAt: startedAt + 9 * minute });
const approval = aRolloutStatus({
  waves: [
    aWaveStatus({ state: 'passed' }),
    aWaveStatus({ name: 'rest', state: 'awaitingApproval', waits: 'approval' }),
  ],
  verbs: ['approve', 'abort'],
});

describe('what is announced of a rollout', () => {
  it('is its start once, however often it is read', () => {
    expect(announced(running, running, running)).toEqual([['started'], [], []]);
  });

  it('is a hold, and that it is over', () => {
    expect(announced(running, held, held, running)).toEqual([
      ['started'],
      ['held raised'],
      [],
      ['held over'],
    ]);
  });

  it('is another hold that follows the first between two readings, since a person who resumed has to know', () => {
    const again = aRolloutStatus({ state: 'held', hold: 9 });
    expect(announced(held, again)).toEqual([
      ['started', 'held raised'],
      ['held over', 'held raised'],
    ]);
  });

  it('is a wave that passed and the approval that the next one needs, with the command that gives it', () => {
    expect(announced(running, approval)).toEqual([['started'], ['wavePassed', 'approvalNeeded raised']]);
    const { notices } = dueOfRollout(undefined, approval, { now: startedAt, since: startedAt, patienceMs });
    expect(notices.at(-1)?.commands).toEqual([
      'upwave approve production --wave rest',
      'upwave abort production',
    ]);
  });

  it('is everything in order when it was never read before its end', () => {
    const passed = { ...ended, waves: [aWaveStatus({ state: 'passed' })] };
    expect(announced(passed, passed)).toEqual([['started', 'wavePassed', 'finished'], []]);
  });

  it('is a second end, of a rollout that was opened again', () => {
    const later = aRolloutStatus({ state: 'succeeded', endedAt: startedAt + 20 * minute });
    expect(announced(ended, running, later)).toEqual([['started', 'finished'], [], ['finished']]);
  });

  it('is only what needs a person where it is older than the first announcement of the installation', () => {
    const old = { createdAt: startedAt - minute };
    const passed = [aWaveStatus({ state: 'passed' })];
    expect(announced(aRolloutStatus({ ...old, waves: passed }))).toEqual([[]]);
    expect(announced({ ...ended, ...old })).toEqual([[]]);
    expect(announced({ ...held, ...old })).toEqual([['held raised']]);
  });

  it('is no pause and no stratum of an operator, who knows', () => {
    const stratum = { label: 'Linux', kind: 'asked' as const, reason: 'broken', at: startedAt, waiting: 3 };
    const strata = (by: string) => ({
      total: 2,
      held: [{ ...stratum, by }],
      uncovered: { count: 0, labels: [] },
    });
    expect(announced(running, aRolloutStatus({ state: 'paused', hold: 3 }))).toEqual([['started'], []]);
    expect(announced(running, aRolloutStatus({ strata: strata('root') }))).toEqual([['started'], []]);
    expect(announced(running, aRolloutStatus({ strata: strata('daemon') }), running)).toEqual([
      ['started'],
      ['stratumHeld raised'],
      ['stratumHeld over'],
    ]);
  });

  it('is no progress once nothing ended for too long, and never while it waits for a known instant', () => {
    const at = (changes: Partial<RolloutStatus>, readings = 70) =>
      announced(...Array.from({ length: readings }, () => ({ ...running, ...changes }))).flat();
    expect(at({})).toEqual(['started', 'noProgress raised']);
    expect(at({}, 60)).toEqual(['started']);
    const soak = { kind: 'soak', reason: '', until: startedAt + 999 * minute } as const;
    expect(at({ blockers: [soak] })).toEqual(['started']);
    expect(at({ headline: { kind: 'waitsForWindow', needsPerson: false } })).toEqual(['started']);
  });

  it('is said in words with the cause, the numbers and what to type', () => {
    const causes = [
      { of: 'failed', total: 3, causes: [aCause(3)], others: { count: 0, causes: 0, unread: 0 } },
    ] as const;
    const { notices } = dueOfRollout(
      undefined,
      { ...held, causes },
      { now: startedAt, since: startedAt, patienceMs },
    );
    const notice = notices.at(-1);
    expect(notice && noticeWords(notice)).toEqual({
      title: 'production: held',
      cause: 'wave canary: failures 3, allowed 2',
      numbers: 'To build 19.536-4: 1 of 10 succeeded, 0 failed, 1 in flight, 9 to do.',
      causes: ['3 failed: permission denied'],
      commands: ['upwave resume production --hold 7', 'upwave abort production'],
    });
  });
});

function aCause(count: number) {
  const text = 'permission denied';
  const rest = { strata: [], otherStrata: { count: 0, strata: 0 }, names: ['web-1'] };
  return { kind: 'failed', failureClass: 'permanent', text, count, ...rest } as const;
}

describe('what is announced of the scans of a policy', () => {
  const read = (...readings: ReadonlyArray<Pick<ScanReading, 'failure' | 'overdueAt'>>) => {
    let told: Parameters<typeof dueOfPolicy>[0];
    return readings.map((reading, index) => {
      const due = dueOfPolicy(told, { policy: 'production', ...reading }, startedAt + index * 5 * minute);
      told = due.told;
      return due.notices.map(({ phase }) => phase);
    });
  };
  const failing = { failure: { reason: 'connection refused' }, overdueAt: null };
  const overdue = { failure: null, overdueAt: startedAt };
  const well = { failure: null, overdueAt: startedAt + 999 * minute };

  it('is that they fail for ten minutes, once, and that they succeed again', () => {
    expect(read(failing, failing, failing, failing, well, well)).toEqual([
      [],
      [],
      ['raised'],
      [],
      ['over'],
      [],
    ]);
  });

  it('is that a good one is overdue', () => {
    expect(read(overdue, overdue, overdue)).toEqual([[], [], ['raised']]);
  });

  it('is nothing when one of them fails while the next good one is not overdue', () => {
    expect(read({ ...well, ...{ failure: { reason: 'no' } } }, well).flat()).toEqual([]);
  });
});
