import { onTestFinished } from 'vitest';
import { makeSendNotice } from '../../src/observability/notifications/send-notice.ts';
import { type DeliverParts, deliverNext } from '../../src/orchestrator/notify/deliver.ts';
import type { DaemonNote } from '../../src/orchestrator/ports/event-sink.ts';
import type { Outbox } from '../../src/orchestrator/ports/notifications.ts';
import { makeNoticeQueue, startNoticeWorker } from '../../src/queue/notice-delivery.ts';
import { makeQueueNames } from '../../src/queue/queue-names.ts';
import { makeRedisOutbox } from '../../src/redis/notifications/outbox.ts';
import { makeBrokenRecords } from '../../src/redis/schema/unreadable-records.ts';
import { type Notice, noticeEvents } from '../../src/rollout/model/notice.ts';
import type { Receiver, ReceiverPlace } from '../../src/rollout/model/receiver.ts';
import type { useRedis } from './redis/redis.ts';
import { until } from './until.ts';

export interface DeliveryOptions {
  readonly workers?: number;
  /** The outbox as the workers reach it. */
  readonly spoil?: (outbox: Outbox) => Outbox;
}

const clock = { now: () => Date.now() };
const announced = { failingSince: null, open: null };

/**
 * An outbox with messages for one receiver, and workers on it as daemons have them.
 * @param placeNow the receiver in the config of this moment
 */
export async function startDelivery(
  redis: ReturnType<typeof useRedis>,
  placeNow: () => ReceiverPlace,
  notices: readonly Notice[],
  { workers = 1, spoil = (outbox) => outbox }: DeliveryOptions = {},
) {
  const { keyPrefix } = redis.config();
  const { commands } = redis.connect();
  const outbox = makeRedisOutbox({ commands, keyPrefix, broken: makeBrokenRecords(() => undefined) });
  const receiver = (): Receiver => ({
    ...{ name: 'hook', events: noticeEvents, policies: ['*'], quiet: null },
    place: placeNow(),
  });
  const notes: DaemonNote[] = [];
  const sink = { report: () => undefined, note: (note: DaemonNote) => void notes.push(note) };
  const send = makeSendNotice({ installation: undefined, publicUrl: undefined, clock });
  const parts: DeliverParts = { outbox: spoil(outbox), send, receivers: () => [receiver()], clock, sink };
  const names = makeQueueNames(keyPrefix);
  const onError = () => undefined;
  const connection = redis.connect().client;
  const queue = makeNoticeQueue(connection, names, onError);
  const running = Array.from({ length: workers }, () =>
    startNoticeWorker({
      ...{ connection, names, onError },
      deliver: (name, signal) => deliverNext(parts, name, signal),
      onDeliverError: (error) => sink.note({ event: 'backgroundTask.failed', backgroundTask: '', error }),
    }),
  );
  onTestFinished(async () => {
    await Promise.all([...running.map((worker) => worker.close(0)), queue.close()]);
  });
  const messages = notices.map((notice) => ({ receiver: 'hook', notice }));
  await outbox.write({ policy: 'production', announced }, null, messages);
  await queue.wake(['hook', 'hook']);
  // A job that ends takes no message that is written meanwhile. The leader of a daemon wakes it again.
  const drained = () =>
    until('an empty outbox', async () => {
      await queue.wake(['hook']);
      return (await outbox.receivers()).size === 0;
    });
  /** Keys of threads. */
  const threadKeys = () => commands.keys(`${keyPrefix}*:thread:*`);
  return { outbox, queue, notes, drained, commands, threadKeys };
}
