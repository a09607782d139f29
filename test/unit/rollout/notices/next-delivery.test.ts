import { describe, expect, it } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import type { Notice } from '../../../../src/rollout/model/notice.ts';
import type { Receiver } from '../../../../src/rollout/model/receiver.ts';
import { nextDelivery, receiversOf, retryAfterMs } from '../../../../src/rollout/notices/next-delivery.ts';
import { startedAt } from '../../../support/builders.ts';

const facts = { incident: 'i', at: startedAt, policy: 'production-eu', figures: null, commands: [] } as const;
const details = { event: 'held', reason: 'too many failures' } as const;
const started: Notice = {
  ...facts,
  id: 'started',
  phase: 'once',
  details: { event: 'started', startedBy: 'root', waves: 3 },
};
const held: Notice = { ...facts, id: 'held', phase: 'raised', details };
const over: Notice = { ...facts, id: 'over', phase: 'over', details };

function aReceiver(changes: Partial<Receiver> = {}): Receiver {
  const place = { kind: 'slack', url: new Secret('https://chat.example.com') } as const;
  return {
    name: 'team',
    events: ['held', 'finished'],
    policies: ['production*'],
    quiet: null,
    place,
    ...changes,
  };
}

// The builders' night begins at 21:00 UTC.
const quiet = { days: [1, 2, 3, 4, 5, 6, 7], fromMinute: 20 * 60, toMinute: 6 * 60, timeZone: 'UTC' };
const endOfQuiet = Date.parse('2026-03-03T06:00:00Z');
const waiting = (...notices: readonly Notice[]) => notices.map((notice) => ({ notice, entry: notice.id }));

describe('a receiver', () => {
  it('gets only its events of its policies, and their end', () => {
    const names = (notice: Notice, receiver: Receiver) => receiversOf(notice, [receiver]).length;
    expect([held, over, started].map((notice) => names(notice, aReceiver()))).toEqual([1, 1, 0]);
    expect(names(held, aReceiver({ policies: ['staging'] }))).toBe(0);
  });

  it('gets messages in the order in which they were written', () => {
    expect(nextDelivery(waiting(started, held), aReceiver(), startedAt)).toMatchObject({
      kind: 'send',
      waiting: { entry: 'started' },
    });
    expect(nextDelivery([], aReceiver(), startedAt)).toEqual({ kind: 'done' });
  });

  it('gets in its quiet hours only messages that need a person, and their end; it gets the others afterwards', () => {
    const receiver = aReceiver({ quiet });
    const next = (...notices: readonly Notice[]) => nextDelivery(waiting(...notices), receiver, startedAt);
    expect(next(started, held)).toMatchObject({ kind: 'send', waiting: { entry: 'held' } });
    expect(next(started, over)).toMatchObject({ kind: 'send', waiting: { entry: 'over' } });
    expect(next(started)).toEqual({ kind: 'rest', until: endOfQuiet });
    expect(nextDelivery(waiting(started), receiver, endOfQuiet)).toMatchObject({ kind: 'send' });
  });

  it('does not get messages that are more than a day old', () => {
    expect(nextDelivery(waiting(started), aReceiver(), startedAt + 25 * 3_600_000)).toMatchObject({
      kind: 'expire',
    });
  });

  it('that fails is retried after growing delays of at most five minutes', () => {
    expect([1, 2, 3, 8, 400].map(retryAfterMs)).toEqual([2_000, 4_000, 8_000, 256_000, 300_000]);
  });
});
