import type { Clock, DurationMs, EpochMs } from '../base/time.ts';
import type { RedisConfig as ConfiguredRedis } from '../config/config.ts';
import type { EventSink } from '../orchestrator/ports/event-sink.ts';
import { makeRedisConnection } from '../redis/connection/connection.ts';
import { makeRedisFaults, type RedisFaults } from '../redis/connection/faults.ts';
import { describeRedis, type RedisConfig } from '../redis/connection/redis-config.ts';
import { describeMissingRights, grantOf } from '../redis/connection/rights.ts';
import { makeRightsWatch, type RightsWatch } from '../redis/connection/rights-watch.ts';
import { makeWriteWatch } from '../redis/connection/write-watch.ts';

export type RedisConnections = ReturnType<typeof makeRedisConnections>;

/**
 * The connections of one daemon: each user of Redis waits in its own way. Connects; it never throws for an unreachable Redis, but reports it
 * once, and again when Redis is back.
 */
export function makeRedisConnections(
  config: RedisConfig,
  { sink, clock }: { readonly sink: EventSink; readonly clock: Clock },
) {
  const place = describeRedis(config);
  const onTransient = (error: Error) => {
    writes.learn(error);
  };
  const onRightsRefused = (error: Error) => {
    rights.learn(error);
  };
  const reach = followReach(place, { sink, clock });
  const worker = makeRedisConnection(config, 'worker', {
    onReachable: () => {
      reach.onReachable();
      void rights.check();
    },
    onUnreachable: (reason) => {
      writes.forget();
      reach.onUnreachable(reason);
    },
    onRejoined: reach.onRejoined,
    onTransient,
    onRightsRefused,
  });
  const handler = makeRedisConnection(config, 'handler', { onRightsRefused });
  const subscriber = makeRedisConnection(config, 'worker', { onRightsRefused });
  const queue = makeRedisConnection(config, 'worker', { onTransient, onRightsRefused });
  const { commands } = worker;
  const { keyPrefix } = config;
  const writes = makeWriteWatch({
    commands,
    keyPrefix,
    onRefused: (reason) => sink.note({ event: 'redis.unwritable', reason: `${place}: ${reason}` }),
    onAccepted: () => sink.note({ event: 'redis.writable', reason: place }),
  });
  const rights = makeRightsWatch({
    commands,
    subscriber,
    keyPrefix,
    isCluster: 'cluster' in config,
    onRefused: (refused) =>
      sink.note({ event: 'redis.forbidden', rights: refused, reason: forbiddenWords(place, refused) }),
    onGranted: () => sink.note({ event: 'redis.allowed', reason: place }),
    onMissing: (missing) => sink.note({ event: 'redis.risk', reason: describeMissingRights(missing) }),
  });
  return {
    /** For the loops: commands wait until Redis is back. */
    worker,
    /** For HTTP handlers: a quick error is better than a late answer. */
    handler,
    /** For wake-ups alone: a subscriber can do nothing else. */
    subscriber,
    /** BullMQ's own: it makes blocking ones from it. */
    queue,
    /** Whether Redis refuses writes; whoever is refused one reports it. */
    writes,
    /** What Redis refuses to our user. */
    rights,
    /** What fails at a Redis that is there; whoever meets it reports it. */
    faults: makeFaults(place, { sink, rights }),
    /** Notes that Redis is reachable and refuses something. @returns whether this error is such a refusal, which is then logged already */
    learnRefusal: (error: unknown): boolean => writes.learn(error) || rights.learn(error),
    /**
     * From when on what is read of a collector counts. What was written before may be undone. After a reconnection that is
     * later, because creates that Redis has lost may still arrive: in the future at first.
     */
    trustedSince: reach.trustedSince,
    /** Where Redis is, in words without credentials. */
    place,
    /** Why it is out of reach, without credentials, and since when; undefined while it is not, or nobody knows yet. */
    unreachable: reach.lost,
    close: async (): Promise<void> => {
      writes.close();
      rights.close();
      await Promise.all([queue, subscriber, handler, worker].map((connection) => connection.close()));
    },
  };
}

/** Knows whether Redis is reachable, and reports when that changes. */
function followReach(place: string, { sink, clock }: { readonly sink: EventSink; readonly clock: Clock }) {
  // Kept by a clock that never jumps: noted by the other one, it would lie in the future once that clock is set back.
  // Then no observation would be trusted: polls without end, and no create.
  let rejoinedAt = performance.now();
  let wasReached = false;
  let isRejoined = false;
  let lost: { readonly reason: string; readonly since: EpochMs } | undefined;
  return {
    onReachable: (): void => {
      lost = undefined;
      wasReached = true;
      sink.note({ event: 'redis.reachable', reason: place });
    },
    onUnreachable: (reason: string): void => {
      lost = { reason, since: clock.now() };
      sink.note({ event: 'redis.unreachable', reason: `${place}: ${reason}` });
    },
    onRejoined: (): void => {
      rejoinedAt = performance.now();
      isRejoined = wasReached;
    },
    lost: () => lost,
    trustedSince: (answerWithinMs: DurationMs): EpochMs => {
      const arrivesMs = isRejoined ? answerWithinMs : 0;
      return Math.ceil(clock.now() - (performance.now() - rejoinedAt) + arrivesMs);
    },
  };
}

/** A refused right is reported as such, and not as a fault. */
function makeFaults(
  place: string,
  { sink, rights }: { readonly sink: EventSink; readonly rights: RightsWatch },
): RedisFaults {
  const faults = makeRedisFaults({
    onFault: (reason) => sink.note({ event: 'redis.fault', reason: `${place}: ${reason}` }),
    onOver: (what) => sink.note({ event: 'redis.faultOver', reason: `${place}: ${what}` }),
  });
  return {
    ...faults,
    met: (what, error) => {
      if (!rights.learn(error)) faults.met(what, error);
    },
  };
}

/** In a person's words, why no work is done with a Redis that is there, and what to do. */
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
