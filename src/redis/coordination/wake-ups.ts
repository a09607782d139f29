import { randomUUID } from 'node:crypto';
import type { DurationMs } from '../../base/time.ts';
import type { WakeUps } from '../../orchestrator/ports/wake-ups.ts';
import type { RedisConnection } from '../connection/connection.ts';

export interface RedisBell extends WakeUps {
  /** Called soon after any daemon rang. @returns a function that ends it */
  onWakeUp(listener: () => void): () => void;
  close(): void;
}

// Hundreds of upgrades may end at once; their reconciler needs to hear it once.
const quietMs: DurationMs = 5;

/**
 * A wakeUps over Redis publish and subscribe. Rings within a few milliseconds are one; a ring while Redis is away reaches
 * this daemon only. Both are fine: the loops look anyway, only later.
 * @param parts.subscriber a connection of the wakeUps's own; its owner closes it
 */
export function makeRedisWakeUps(parts: {
  readonly publisher: RedisConnection;
  readonly subscriber: RedisConnection;
  readonly keyPrefix: string;
}): RedisBell {
  const { publisher, subscriber } = parts;
  const channel = `${parts.keyPrefix}:wakeUps`;
  const self = randomUUID();
  const listeners = new Set<() => void>();
  let quiet: NodeJS.Timeout | undefined;
  let rangMeanwhile = false;

  const tellListeners = () => {
    for (const listener of listeners) listener();
  };
  const onMessage = (from: string, sender: string) => {
    if (from === channel && sender !== self) tellListeners();
  };
  subscriber.client.on('message', onMessage);
  // Kept over reconnects by the client; when it fails now, it is tried again with the next connection.
  subscriber.client.subscribe(channel).catch(noop);

  function ringNow(): void {
    tellListeners();
    // Published into an offline queue it would arrive much later, as news about nothing.
    if (publisher.isReady()) publisher.commands.publish(channel, self).catch(noop);
    quiet = setTimeout(afterQuiet, quietMs);
    quiet.unref();
  }

  function afterQuiet(): void {
    quiet = undefined;
    if (!rangMeanwhile) return;
    rangMeanwhile = false;
    ringNow();
  }

  return {
    ring: () => {
      if (quiet === undefined) ringNow();
      else rangMeanwhile = true;
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
  // A wakeUps may be lost.
}
