import type { Clock, EpochMs } from '../base/time.ts';
import type { RedisConfig as ConfiguredRedis } from '../config/config.ts';
import type { EventSink } from '../orchestrator/ports/event-sink.ts';
import type { StoreJoin } from '../orchestrator/recovery/kept-writes.ts';
import { makeRedisConnection, type RedisConnection } from '../redis/connection/connection.ts';
import { makeRedisFaults, type RedisFaults } from '../redis/connection/faults.ts';
import { describeRedis, type RedisConfig } from '../redis/connection/redis-config.ts';
import { describeMissingRights, grantOf } from '../redis/connection/rights.ts';
import { makeRightsWatch, type RightsWatch } from '../redis/connection/rights-watch.ts';
import { makeWriteWatch } from '../redis/connection/write-watch.ts';

interface Parts {
  readonly sink: EventSink;
  readonly clock: Clock;
}

export type RedisConnections = ReturnType<typeof makeRedisConnections>;

/**
 * Opens the Redis connections of a daemon, one for each kind of use. An unreachable Redis is no error: it is reported
 * once, and again when Redis is back.
 */
export function makeRedisConnections(config: RedisConfig, { sink, clock }: Parts) {
  const place = describeRedis(config);
  const onTransient = (error: Error) => {
    writes.learn(error);
  };
  const onRightsRefused = (error: Error) => {
    rights.learn(error);
  };
  const reach = trackReachability(place, { sink, clock });
  let silentSince: EpochMs | undefined;
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
  const { writes, rights, faults, since } = makeWatches(config, { worker, subscriber, sink, clock });
  return {
    /** For the loops: commands wait until Redis is back. */
    worker,
    /** For HTTP handlers: a quick error is better than a late response. */
    handler,
    /** For wake-ups only: a subscriber can run no other commands. */
    subscriber,
    /** For BullMQ, which duplicates it for blocking commands. */
    queue,
    /** Whether Redis refuses writes. Every failed write is passed to it. */
    writes,
    /** The rights that Redis refuses to upwave's user. */
    rights,
    /** Other failures of a reachable Redis. Every failed command is passed to it. */
    faults,
    /** When each current refusal or failure began. */
    since,
    /** Remembers whether Redis leaves this daemon without an answer, although it is connected. @returns since when */
    noteSilence: (isSilent: boolean): EpochMs | undefined => {
      silentSince = isSilent ? (silentSince ?? clock.now()) : undefined;
      return silentSince;
    },
    /**
     * Learns from an error whether Redis refuses writes or rights. @returns true for such an error, which is reported
     * then
     */
    learnRefusal: (error: unknown): boolean => writes.learn(error) || rights.learn(error),
    /** The last connection: writes from before it may be lost. */
    lastJoin: reach.lastJoin,
    /** True if all keys are in one Redis, so that none goes back alone. */
    isOneStore: !('cluster' in config),
    /** The place of Redis, without credentials. */
    place,
    /**
     * Why Redis is unreachable, without credentials, and since when; undefined while it is reachable, or not yet known.
     */
    unreachable: reach.lost,
    close: async (): Promise<void> => {
      writes.close();
      rights.close();
      await Promise.all([queue, subscriber, handler, worker].map((connection) => connection.close()));
    },
  };
}

// A Redis that never answered is missing or wrong in the config. One that did comes back by itself.
const firstSteps =
  '. Start Redis, or correct the settings under `redis`; the daemon continues when Redis answers';

/** By what a reachable Redis does. */
type RefusedSince = Partial<Record<'unwritable' | 'forbidden' | 'fault', EpochMs | undefined>>;

/** Watches what a reachable Redis refuses, and reports changes. */
function makeWatches(
  config: RedisConfig,
  parts: Parts & Readonly<Record<'worker' | 'subscriber', RedisConnection>>,
) {
  const { sink, clock, subscriber } = parts;
  const { commands } = parts.worker;
  const place = describeRedis(config);
  const { keyPrefix } = config;
  const since: RefusedSince = {};
  const writes = makeWriteWatch({
    commands,
    keyPrefix,
    onRefused: (reason) => {
      since.unwritable = clock.now();
      sink.note({ event: 'redis.unwritable', reason: `${place}: ${reason}` });
    },
    onAccepted: () => sink.note({ event: 'redis.writable', reason: place }),
  });
  const rights = makeRightsWatch({
    commands,
    subscriber,
    keyPrefix,
    isCluster: 'cluster' in config,
    onRefused: (refused) => {
      // Called again when Redis refuses other rights.
      since.forbidden ??= clock.now();
      sink.note({ event: 'redis.forbidden', rights: refused, reason: forbiddenText(place, refused) });
    },
    onGranted: () => {
      since.forbidden = undefined;
      sink.note({ event: 'redis.allowed', reason: place });
    },
    onMissing: (missing) => sink.note({ event: 'redis.risk', reason: describeMissingRights(missing) }),
  });
  const faults = makeFaults(place, { sink, rights, clock, since });
  return { writes, rights, faults, since: since as Readonly<RefusedSince> };
}

/** Tracks whether Redis is reachable, and reports changes. */
function trackReachability(
  place: string,
  { sink, clock }: { readonly sink: EventSink; readonly clock: Clock },
) {
  let joined: StoreJoin = { count: 0, at: performance.now(), isRejoin: false };
  let wasReached = false;
  let lost: { readonly reason: string; readonly since: EpochMs } | undefined;
  return {
    onReachable: (): void => {
      lost = undefined;
      wasReached = true;
      sink.note({ event: 'redis.reachable', reason: place });
    },
    onUnreachable: (reason: string): void => {
      lost = { reason, since: clock.now() };
      sink.note({ event: 'redis.unreachable', reason: `${place}: ${reason}${wasReached ? '' : firstSteps}` });
    },
    onRejoined: (): void => {
      joined = { count: joined.count + 1, at: performance.now(), isRejoin: wasReached };
    },
    lost: () => lost,
    lastJoin: () => joined,
  };
}

/** Reports a refused right as such, and not as a fault. */
function makeFaults(
  place: string,
  parts: Parts & { readonly rights: RightsWatch; readonly since: RefusedSince },
): RedisFaults {
  const { sink, rights, clock, since } = parts;
  const faults = makeRedisFaults({
    onFault: (reason) => {
      since.fault ??= clock.now();
      sink.note({ event: 'redis.fault', reason: `${place}: ${reason}` });
    },
    onOver: (what) => {
      if (faults.reason() === null) since.fault = undefined;
      sink.note({ event: 'redis.faultOver', reason: `${place}: ${what}` });
    },
  });
  return {
    ...faults,
    met: (what, error) => {
      if (!rights.learn(error)) faults.met(what, error);
    },
  };
}

/** Describes for people why upwave cannot work with a reachable Redis, and what to do. */
export function forbiddenText(place: string, rights: readonly string[]): string {
  return `${place} refuses its user ${rights.join(' ')}: upwave cannot work. Grant it: ${grantOf(rights)}`;
}

/** Converts the Redis config for the adapter, with its secrets revealed. */
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
