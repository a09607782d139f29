import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import type { Outbox } from '../../../src/orchestrator/ports/notifications.ts';
import { makeRedisOutbox } from '../../../src/redis/notifications/outbox.ts';
import { makeBrokenRecords } from '../../../src/redis/schema/unreadable-records.ts';
import type { Notice } from '../../../src/rollout/model/notice.ts';
import { startedAt } from '../../support/builders.ts';
import { ending } from '../../support/ending.ts';
import { startFakeReceiver } from '../../support/network/fake-receivers.ts';
import type { SeenRequest } from '../../support/network/scripted-server.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { type DeliveryOptions, startDelivery } from '../../support/start-delivery.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();
const clock = { now: () => Date.now() };
const announced = { failingSince: null, open: null };

const aNotice = (id: string): Notice => ({
  ...{ id, incident: id, phase: 'once', at: clock.now(), policy: 'production', figures: null, commands: [] },
  details: { event: 'started', startedBy: 'root', waves: 3 },
});
const idOf = ({ text }: SeenRequest) => (JSON.parse(text) as { id: string }).id;

const aHook = (url: string) => () =>
  ({ kind: 'webhook', url: new Secret(url), secret: new Secret('signs') }) as const;

/** A delivery of started rollouts to a webhook. */
const aDelivery = (url: string, ids: readonly string[], options?: DeliveryOptions) =>
  startDelivery(redis, aHook(url), ids.map(aNotice), options);

describe('the outbox of notifications', () => {
  it('delivers each message once and in order with several daemons, and retries before the next message', async () => {
    const receiver = ending(await startFakeReceiver((number) => (number === 0 ? 500 : 200)));
    const { drained, notes, outbox } = await aDelivery(receiver.url, ['a', 'b', 'c', 'd'], { workers: 3 });
    await until(
      'the failure',
      async () => (await outbox.readFailures()).get('hook')?.reason === 'answered 500',
    );
    await drained();
    expect(receiver.posts.map(idOf)).toEqual(['a', 'a', 'b', 'c', 'd']);
    expect(notes.map(({ event }) => event.replace('notification.', '')).join(' ')).toBe(
      'failed recovered sent sent sent sent',
    );
    expect(await outbox.readFailures()).toEqual(new Map());
  });

  it('sends a message again with the same id when the daemon ends between sending and removing it', async () => {
    const receiver = ending(await startFakeReceiver());
    let isKilled = false;
    const spoil = (outbox: Outbox): Outbox => ({
      ...outbox,
      remove: (waiting) => {
        if (isKilled) return outbox.remove(waiting);
        isKilled = true;
        return Promise.reject(new Error('killed'));
      },
    });
    const { drained } = await aDelivery(receiver.url, ['a', 'b'], { spoil });
    await drained();
    expect(receiver.posts.map(idOf)).toEqual(['a', 'a', 'b']);
  });

  it('drops a message that the receiver refuses, and continues with the next', async () => {
    const receiver = ending(await startFakeReceiver((number) => (number === 0 ? 400 : 204)));
    const { drained, notes } = await aDelivery(receiver.url, ['a', 'b']);
    await drained();
    expect(receiver.posts.map(idOf)).toEqual(['a', 'b']);
    expect(notes[0]).toMatchObject({ event: 'notification.dropped', notice: 'a', reason: 'answered 400' });
  });

  it('follows no redirect: nobody but the configured receiver gets a message (P12)', async () => {
    const other = ending(await startFakeReceiver());
    const receiver = ending(await startFakeReceiver(() => ({ status: 307, location: other.url })));
    const { notes } = await aDelivery(receiver.url, ['a']);
    await until('the failure', () => notes.length > 0);
    expect(notes[0]).toMatchObject({
      event: 'notification.failed',
      reason: expect.stringContaining('redirect'),
    });
    expect(other.posts).toEqual([]);
  });

  it('accepts announcements from one daemon only, and keeps a bounded number of messages', async () => {
    const { commands } = redis.connect();
    const { keyPrefix } = redis.config();
    const outbox = makeRedisOutbox({ commands, keyPrefix, broken: makeBrokenRecords(() => undefined) });
    const many = Array.from({ length: 1_500 }, (_, index) => ({
      receiver: 'hook',
      notice: aNotice(`m${index}`),
    }));
    const first = { failingSince: startedAt, open: null };
    expect(await outbox.write({ policy: 'p', announced: first }, null, many)).toEqual({ pushedOut: 0 });
    expect(await outbox.write({ policy: 'p', announced: first }, null, many)).toBe('stale');
    const { policies } = await outbox.readAnnounced(startedAt);
    expect(policies.get('p')?.announced).toEqual(first);
    const mark = policies.get('p')?.mark ?? null;
    expect(await outbox.write({ policy: 'p', announced }, mark, many)).toEqual({ pushedOut: 1_000 });
    expect((await outbox.read('hook'))[0]?.notice.id).toBe('m1000');
  });
});
