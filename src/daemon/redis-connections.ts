import type { Clock, EpochMs } from '../base/time.ts';
import type { RedisConfig as ConfiguredRedis } from '../config/config.ts';
import type { EventSink } from '../orchestrator/ports/event-sink.ts';
import { describeRedis, type RedisConfig } from '../redis/connection/config.ts';
import { makeRedisConnection, type RedisConnection } from '../redis/connection/connection.ts';
import { makeRedisFaults, type RedisFaults } from '../redis/connection/faults.ts';
import { describeMissingRights, grantOf } from '../redis/connection/rights.ts';
import { makeRightsWatch, type RightsWatch } from '../redis/connection/rights-watch.ts';
import { makeWriteWatch, type WriteWatch } from '../redis/connection/write-watch.ts';

/** The connections of one daemon: each user of Redis waits in its own way. */
export interface RedisConnections {
  /** For the loops: commands wait until Redis is back. */
  readonly worker: RedisConnection;
  /** For HTTP handlers: a quick error is better than a late answer. */
  readonly handler: RedisConnection;
  /** For wake-ups alone: a subscriber can do nothing else. */
  readonly subscriber: RedisConnection;
  /** BullMQ's own: it makes blocking ones from it. */
  readonly queue: RedisConnection;
  /** Whether Redis refuses writes; whoever is refused one tells it. */
  readonly writes: WriteWatch;
  /** What fails at a Redis that is there; whoever meets it tells it. */
  readonly faults: RedisFaults;
  /** What Redis refuses to our user. */
  readonly rights: RightsWatch;
  /** Notes that Redis is reachable and refuses something. @returns whether this error is such a refusal, which is then logged already */
  readonly learnRefusal: (error: unknown) => boolean;
  /** Since when all that was read came from the Redis that is there now; what was written before may be undone. */
  readonly trustedSince: () => EpochMs;
  /** Where Redis is, in words without credentials. */
  readonly place: string;
  /** Why it is out of reach, without credentials; null while it is not, or nobody knows yet. */
  readonly unreachable: () => string | null;
  /** Since when; null while it is not, or nobody knows yet. */
  readonly unreachableSince: () => EpochMs | null;
  close(): Promise<void>;
}

/** Connects; it never throws for an unreachable Redis, but tells so once, and again when it is back. */
export function makeRedisConnections(
  config: RedisConfig,
  { sink, clock }: { readonly sink: EventSink; readonly clock: Clock },
): RedisConnections {
  // Kept by a clock that never jumps: noted by the other one, it would lie in the time to come once that is set back, and
  // nothing that is seen from then on would be trusted: looks without end, and no create.
  let rejoinedAt = performance.now();
  let unreachable: string | null = null;
  let unreachableSince: EpochMs | null = null;
  const place = describeRedis(config);
  const onTransient = (error: Error) => {
    writes.learn(error);
  };
  const onRightsRefused = (error: Error) => {
    rights.learn(error);
  };
  const worker = makeRedisConnection(config, 'worker', {
    onReachable: () => {
      unreachable = null;
      unreachableSince = null;
      sink.note({ event: 'redis.reachable', reason: place });
      void rights.check();
    },
    onUnreachable: (reason) => {
      unreachable = reason;
      unreachableSince = clock.now();
      writes.forget();
      sink.note({ event: 'redis.unreachable', reason: `${place}: ${reason}` });
    },
    onRejoined: () => {
      rejoinedAt = performance.now();
    },
    onTransient,
    onRightsRefused,
  });
  const writes = makeWriteWatch({
    commands: worker.commands,
    keyPrefix: config.keyPrefix,
    onRefused: (reason) => sink.note({ event: 'redis.unwritable', reason: `${place}: ${reason}` }),
    onAccepted: () => sink.note({ event: 'redis.writable', reason: place }),
  });
  const handler = makeRedisConnection(config, 'handler', { onRightsRefused });
  const subscriber = makeRedisConnection(config, 'worker', { onRightsRefused });
  const queue = makeRedisConnection(config, 'worker', { onTransient, onRightsRefused });
  const rights = makeRightsWatch({
    commands: worker.commands,
    subscriber,
    keyPrefix: config.keyPrefix,
    onRefused: (refused) =>
      sink.note({ event: 'redis.forbidden', rights: refused, reason: forbiddenWords(place, refused) }),
    onGranted: () => sink.note({ event: 'redis.allowed', reason: place }),
    onMissing: (missing) => sink.note({ event: 'redis.risk', reason: describeMissingRights(missing) }),
  });
  const unnamed = makeRedisFaults({
    onFault: (reason) => sink.note({ event: 'redis.fault', reason: `${place}: ${reason}` }),
    onOver: (what) => sink.note({ event: 'redis.faultOver', reason: `${place}: ${what}` }),
  });
  // A refused right is logged as such, and not as a fault.
  const faults: RedisFaults = {
    ...unnamed,
    met: (what, error) => {
      if (!rights.learn(error)) unnamed.met(what, error);
    },
  };
  const all = [queue, subscriber, handler, worker];
  return {
    worker,
    handler,
    subscriber,
    queue,
    writes,
    faults,
    rights,
    learnRefusal: (error) => writes.learn(error) || rights.learn(error),
    trustedSince: () => Math.ceil(clock.now() - (performance.now() - rejoinedAt)),
    place,
    unreachable: () => unreachable,
    unreachableSince: () => unreachableSince,
    close: async () => {
      writes.close();
      rights.close();
      await Promise.all(all.map((connection) => connection.close()));
    },
  };
}

/** In a person's words, why nothing gets on with a Redis that is there, and what to do. */
export function forbiddenWords(place: string, rights: readonly string[]): string {
  return `${place} refuses its user ${rights.join(' ')}: no work is done. Grant it: ${grantOf(rights)}`;
}

/** The configured Redis as the adapter wants it, with its secrets revealed. */
export function redisConfigOf(configured: ConfiguredRedis): RedisConfig {
  const common = {
    keyPrefix: configured.keyPrefix,
    ...(configured.ca === undefined ? {} : { ca: configured.ca }),
  };
  if (configured.kind === 'single') return { ...common, url: configured.url.reveal() };
  const { username, password, tls } = configured;
  const credentials = {
    tls,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password: password.reveal() }),
  };
  if (configured.kind === 'cluster') return { ...common, cluster: configured.nodes, ...credentials };
  return { ...common, sentinels: configured.sentinels, name: configured.name, ...credentials };
}
