import { randomUUID } from 'node:crypto';
import type { DurationMs } from '../../base/time.ts';
import type { WakeUps } from '../../orchestrator/ports/leader.ts';
import type { RedisConnection } from '../connection/connection.ts';

export interface RedisWakeUps extends WakeUps {
  /** Called soon after any daemon woke the others. @returns a function that ends it */
  onWakeUp(listener: () => void): () => void;
  close(): void;
}

// Hundreds of upgrades may end at once; their reconciler needs to hear it once.
const quietMs: DurationMs = 5;

/**
 * Wake-ups over Redis publish and subscribe. Those within a few milliseconds are one. While Redis is away a wake-up
 * reaches this daemon only. Both do no harm: the loops run anyway, only later.
 * @param parts.subscriber a connection for wake-ups alone; its owner closes it
 */
export function makeRedisWakeUps(parts: {
  readonly publisher: RedisConnection;
  readonly subscriber: RedisConnection;
  readonly keyPrefix: string;
}): RedisWakeUps {
  const { publisher, subscriber } = parts;
  const channel = `${parts.keyPrefix}:wakeUps`;
  const self = randomUUID();
  const listeners = new Set<() => void>();
  let quiet: NodeJS.Timeout | undefined;
  let isAskedMeanwhile = false;

  const callListeners = () => {
    for (const listener of listeners) listener();
  };
  const onMessage = (from: string, sender: string) => {
    if (from === channel && sender !== self) callListeners();
  };
  subscriber.client.on('message', onMessage);
  // Kept over reconnects by the client; when it fails now, it is tried again with the next connection.
  subscriber.client.subscribe(channel).catch(noop);

  function wakeNow(): void {
    callListeners();
    // Published into an offline queue it would arrive much later, when nothing has happened.
    if (publisher.isReady()) publisher.commands.publish(channel, self).catch(noop);
    quiet = setTimeout(afterQuiet, quietMs);
    quiet.unref();
  }

  function afterQuiet(): void {
    quiet = undefined;
    if (!isAskedMeanwhile) return;
    isAskedMeanwhile = false;
    wakeNow();
  }

  return {
    wake: () => {
      if (quiet === undefined) wakeNow();
      else isAskedMeanwhile = true;
    },
    onWakeUp: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    close: () => {
      clearTimeout(quiet);
      listeners.clear();
      subscriber.client.off('message', onMessage);
    },
  };
}

function noop(): void {
  // A wake-up may be lost.
}
