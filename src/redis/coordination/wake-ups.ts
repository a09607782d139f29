import { randomUUID } from 'node:crypto';
import type { DurationMs } from '../../base/time.ts';
import type { WakeUps } from '../../orchestrator/ports/leader.ts';
import type { RedisConnection } from '../connection/connection.ts';

export interface RedisWakeUps extends WakeUps {
  /** Called soon after any daemon's wake-up. @returns a function that removes the listener */
  onWakeUp(listener: () => void): () => void;
  close(): void;
}

// Hundreds of upgrades may end at once, and one wake-up is enough for all.
const quietMs: DurationMs = 5;

/**
 * Wake-ups over Redis publish and subscribe. Those within a few milliseconds are merged. While Redis is unreachable a
 * wake-up reaches this daemon only. Neither does harm: the loops run anyway, only later.
 * @param parts.subscriber a connection for wake-ups only; its owner closes it
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
  let isWakePending = false;

  const callListeners = () => {
    for (const listener of listeners) listener();
  };
  const onMessage = (from: string, sender: string) => {
    if (from === channel && sender !== self) callListeners();
  };
  subscriber.client.on('message', onMessage);
  // The client restores it after reconnects. If it fails now, it is retried with the next connection.
  subscriber.client.subscribe(channel).catch(() => undefined);

  function wakeNow(): void {
    callListeners();
    // In an offline queue it would arrive much later, without a reason.
    if (publisher.isReady()) publisher.commands.publish(channel, self).catch(() => undefined);
    quiet = setTimeout(afterQuiet, quietMs);
    quiet.unref();
  }

  function afterQuiet(): void {
    quiet = undefined;
    if (!isWakePending) return;
    isWakePending = false;
    wakeNow();
  }

  return {
    wake: () => {
      if (quiet === undefined) wakeNow();
      else isWakePending = true;
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
