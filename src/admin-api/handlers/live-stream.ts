import { PassThrough, type Readable } from 'node:stream';
import type { Clock, DurationMs } from '../../base/time.ts';
import { sentence } from '../../rollout/messages/sentences.ts';
import { AdminFault } from '../access/admin-fault.ts';
import type { AskOperations } from './ask-operations.ts';

/** The maximum of open streams. Further pages poll, which costs the daemon more. */
const streamsMax = 32;
/** How often the state is read, once for all streams. */
const everyMs: DurationMs = 1_500;
/** Proxies close idle connections. */
const pingEveryMs: DurationMs = 15_000;
/** Then a stream ends, and its page opens a new one. So a revoked token stops working. */
const lifeMs: DurationMs = 10 * 60_000;
/** A client with this many unread bytes is disconnected. It reads the whole state when it comes back. */
const unreadBytesMax = 4 * 1024 * 1024;

export type LiveStream = ReturnType<typeof makeLiveStream>;

interface Watcher {
  readonly stream: PassThrough;
  readonly until: number;
  /** The last text sent to it, by part. */
  readonly sent: Map<string, string>;
}

/** One part of the state as texts: its items by id, or a single item. */
interface Part {
  readonly name: 'rollouts' | 'policies' | 'holds' | 'away';
  readonly items: readonly { readonly id: string; readonly text: string }[];
}

/**
 * The state of all rollouts as server-sent events: all of it first, then what has changed.
 * @param readPolicies as `GET /policies` answers it
 */
export function makeLiveStream(ask: AskOperations, readPolicies: () => Promise<unknown>, clock: Clock) {
  const watchers = new Set<Watcher>();
  let timer: NodeJS.Timeout | undefined;
  let saidAt = 0;
  let isReading = false;

  const read = async (): Promise<readonly Part[]> => {
    try {
      const [rollouts, holds, policies] = await Promise.all([
        ask.read((operations) => operations.listRollouts()),
        ask.read((operations) => operations.listHolds()),
        readPolicies(),
      ]);
      const one = (value: unknown) => [{ id: '', text: JSON.stringify(value) }];
      return [
        { name: 'rollouts', items: rollouts.map((each) => ({ id: each.id, text: JSON.stringify(each) })) },
        { name: 'policies', items: one(policies) },
        { name: 'holds', items: one(holds) },
      ];
    } catch (error) {
      const known = error instanceof AdminFault;
      const message = known
        ? sentence(error.message)
        : 'The daemon cannot read its state. Its log has the error.';
      return [{ name: 'away', items: [{ id: '', text: JSON.stringify({ message }) }] }];
    }
  };

  const tick = async (): Promise<void> => {
    if (isReading) return;
    isReading = true;
    const parts = await read();
    isReading = false;
    const isPing = clock.now() - saidAt >= pingEveryMs;
    if (isPing) saidAt = clock.now();
    for (const watcher of watchers) {
      const changes = parts.map((part) => changeOf(part, watcher.sent)).join('');
      const text = changes === '' && isPing ? ': ping\n\n' : changes;
      if (text !== '') watcher.stream.write(text);
      if (clock.now() > watcher.until) end(watcher);
      else if (watcher.stream.writableLength + watcher.stream.readableLength > unreadBytesMax)
        watcher.stream.destroy();
    }
  };
  const end = (watcher: Watcher): void => {
    // Nothing more is written to the stream, even while its last bytes are unread.
    watchers.delete(watcher);
    watcher.stream.end();
  };
  const schedule = (): void => {
    timer ??= setInterval(() => void tick(), everyMs).unref();
  };

  return {
    /** @throws AdminFault when too many streams are open */
    open: (): Readable => {
      if (watchers.size >= streamsMax)
        throw new AdminFault('unavailable', `${streamsMax} streams are open already; poll instead`);
      const watcher = { stream: new PassThrough(), until: clock.now() + lifeMs, sent: new Map() };
      watchers.add(watcher);
      watcher.stream.once('close', () => {
        watchers.delete(watcher);
        if (watchers.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      });
      // Headers and the first bytes leave at once. They show the page that no proxy buffers the stream.
      watcher.stream.write(': welcome\n\n');
      schedule();
      void tick();
      return watcher.stream;
    },
    /** Ends all open streams. Their pages open new ones. */
    endAll: (): void => {
      for (const watcher of watchers) end(watcher);
    },
    close: (): void => {
      clearInterval(timer);
      for (const { stream } of watchers) stream.destroy();
    },
  };
}

/** The message with the changes of a part since the last message; empty without a change. */
function changeOf({ name, items }: Part, sent: Map<string, string>): string {
  if (name === 'away') {
    // The whole state is sent again once Redis is back.
    sent.clear();
    return messageOf(name, items[0]?.text ?? '{}');
  }
  const changed = items.filter(({ id, text }) => sent.get(`${name} ${id}`) !== text);
  const ids = JSON.stringify(items.map(({ id }) => id));
  if (changed.length === 0 && sent.get(name) === ids) return '';
  sent.set(name, ids);
  for (const { id, text } of changed) sent.set(`${name} ${id}`, text);
  const texts = changed.map(({ text }) => text);
  return name === 'rollouts'
    ? messageOf(name, `{"ids":${ids},"changed":[${texts.join(',')}]}`)
    : messageOf(name, texts[0] ?? '{}');
}

function messageOf(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`;
}
