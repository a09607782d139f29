import type { Clock, DurationMs } from '../../base/time.ts';
import type { Receiver } from '../../rollout/model/receiver.ts';
import { nextDelivery, retryAfterMs } from '../../rollout/notices/next-delivery.ts';
import type { EventSink } from '../ports/event-sink.ts';
import type { StepOutcome } from '../ports/leader.ts';
import type {
  Outbox,
  ReceiverFailure,
  SendNotice,
  SendResult,
  WaitingNotice,
} from '../ports/notifications.ts';

export interface DeliverParts {
  readonly outbox: Outbox;
  readonly send: SendNotice;
  readonly receivers: () => readonly Receiver[];
  readonly clock: Clock;
  readonly sink: EventSink;
}

// The maximum wait, because a reload may change the quiet hours.
const restMaxMs: DurationMs = 5 * 60_000;

/**
 * Sends the next waiting message of a receiver. Over all daemons, one job for each receiver does this, which keeps messages
 * in order. After a crash between sending and removing, the message is sent again with the same id.
 */
export async function deliverNext(
  parts: DeliverParts,
  name: string,
  signal: AbortSignal,
): Promise<StepOutcome> {
  const { outbox, clock, sink } = parts;
  // The receiver belongs to another config. The leader adds the job again until a daemon that has it takes it.
  const receiver = parts.receivers().find((each) => each.name === name);
  if (receiver === undefined) return { job: 'end' };
  const now = clock.now();
  const failure = (await outbox.readFailures()).get(name);
  if (failure !== undefined && failure.retryAt > now) return { job: 'comeBack', at: failure.retryAt };
  const next = nextDelivery(await outbox.read(name), receiver, now);
  switch (next.kind) {
    case 'done':
      return { job: 'end' };
    case 'rest':
      return { job: 'comeBack', at: Math.min(next.until, now + restMaxMs) };
    case 'expire':
      await drop(parts, name, next.waiting, failure?.reason ?? 'it waited for a day');
      return { job: 'comeBack', at: now };
    case 'send': {
      const { notice } = next.waiting;
      const hasThread = notice.phase !== 'once';
      const thread = hasThread ? await outbox.readThread(name, notice.incident) : null;
      const result = await parts.send(receiver, notice, thread, signal);
      if (signal.aborted && result.kind === 'failed') return { job: 'comeBack', at: clock.now() };
      if (result.kind === 'failed') return await retryLater(parts, name, failure, result);
      if (failure !== undefined) {
        await outbox.saveFailure(name, null);
        sink.note({ event: 'notification.recovered', receiver: name });
      }
      if (result.kind === 'refused') await drop(parts, name, next.waiting, result.reason);
      else {
        // Before the message is removed: until then, a crash only sends it again.
        if (hasThread && result.thread) await outbox.saveThread(name, notice.incident, result.thread);
        await outbox.remove(next.waiting);
        const { policy, id } = notice;
        sink.note({ event: 'notification.sent', receiver: name, policy, notice: id });
      }
      return { job: 'comeBack', at: clock.now() };
    }
    default:
      return next satisfies never;
  }
}

async function retryLater(
  { outbox, clock, sink }: DeliverParts,
  receiver: string,
  before: ReceiverFailure | undefined,
  { reason, retryAfterMs: asked }: Extract<SendResult, { kind: 'failed' }>,
): Promise<StepOutcome> {
  const now = clock.now();
  const failures = (before?.failures ?? 0) + 1;
  const retryAt = now + Math.max(retryAfterMs(failures), Math.min(asked ?? 0, restMaxMs));
  await outbox.saveFailure(receiver, { failures, since: before?.since ?? now, reason, retryAt });
  sink.note({ event: 'notification.failed', receiver, reason, failures });
  return { job: 'comeBack', at: retryAt };
}

async function drop(
  { outbox, sink }: DeliverParts,
  receiver: string,
  waiting: WaitingNotice,
  reason: string,
): Promise<void> {
  await outbox.remove(waiting);
  const { policy, id } = waiting.notice;
  sink.note({ event: 'notification.dropped', receiver, policy, notice: id, reason });
}
