import { type ConnectionOptions, rootCertificates } from 'node:tls';
import { Cluster, type ClusterNode, type CommonRedisOptions, Redis, type RedisCommander } from 'ioredis';
import { describeCertificateProblem, errorCodeOf } from '../../base/node-errors.ts';
import type { DurationMs } from '../../base/time.ts';
import { within } from '../../base/waiting.ts';
import { type Client, endNow, patchClient } from './client-patches.ts';
import { type RedisConfig, redactRedisText } from './redis-config.ts';
import { isRightsRefusal } from './redis-errors.ts';
import { makeTransientErrors, type TransientErrors } from './transient-errors.ts';

/** The commands of one Redis, Sentinel master or Cluster. */
export type RedisCommands = RedisCommander<{ type: 'default'; mapping: 'resp2' }>;

export interface RedisConnection {
  /** The connection itself, for libraries that want one. */
  readonly client: Client;
  readonly commands: RedisCommands;
  isReady(): boolean;
  /** Ends it politely where Redis answers, at once where it does not; and what a library duplicated from it and left open. */
  close(): Promise<void>;
}

/**
 * `worker`: commands wait until Redis is back; for a node of a Cluster, a minute. `handler`: for HTTP handlers, where a
 * quick error is better than a late answer.
 */
export type ConnectionKind = 'worker' | 'handler';

/** Reported once per change, with a reason free of credentials (P12). */
export interface ReachabilityNotes {
  onReachable(): void;
  onUnreachable(reason: string): void;
  /**
   * Reported each time a connection to a server was made again, or a cluster's nodes changed: what was written right before
   * may be lost, since a replica that took over may lack it.
   */
  onRejoined?(): void;
  /** Reported each time: commands wait while this server, or its cluster, passes its fault by itself, e.g. as a replica. */
  onTransient?(error: Error): void;
  /** Reported each time Redis refuses a command, a key or a channel to our user, to whichever library asked. */
  onRightsRefused?(error: Error): void;
}

// An operator's page asks again after a second or two; a command that takes longer than this on a healthy Redis is lost.
const handlerCommandTimeoutMs: DurationMs = 2_000;

// A network may forget a connection without a word, and the system notices only after a quarter of an hour. Longer than
// the longest command, which is BullMQ's: it waits 10 s for a job.
const silentMaxMs: DurationMs = 12_000;

// A command that a Cluster refuses because a node is away is sent again every 100 ms: a minute of that. The library's own
// 16 times are over before the others have even noticed, and what was to be stored is lost (P11).
const redirectionsMax = 600;

// Long enough for a loaded Redis to say goodbye; a close is part of a shutdown and must end.
const quitWithinMs: DurationMs = 500;

const connectionWasClosed = 'the connection was closed';

// What a server's end looks like depends on whether anything was running; to a reader it is the same.
const saysClosed = new Set(['ECONNRESET', 'EPIPE']);

const allSentinelsFailed = /^All sentinels are unreachable/;

// A sentinel that is frozen must not keep us from asking the next one; a healthy one answers in a millisecond.
const sentinelCommandTimeoutMs: DurationMs = 2_000;

/** Connects to Redis. It never throws for an unreachable one: it keeps trying, and reports to `notes`. */
export function makeRedisConnection(
  config: RedisConfig,
  kind: ConnectionKind,
  notes?: Partial<ReachabilityNotes>,
): RedisConnection {
  const passing = makeTransientErrors((error) => notes?.onTransient?.(error));
  // The library asks it of every error that Redis answers, also of clients that were duplicated from ours.
  const reconnectOnError = (error: Error) => {
    if (isRightsRefusal(error)) notes?.onRightsRefused?.(error);
    return passing.reconnectOnError(error);
  };
  const client = connect(config, kind, { ...passing, reconnectOnError });
  const duplicates = patchClient(client);
  const watch = watchReachability(config, notes);
  client.on('ready', () => {
    notes?.onRejoined?.();
    watch.onReady();
  });
  if ('cluster' in config) {
    for (const change of ['+node', '-node', 'node error']) client.on(change, () => notes?.onRejoined?.());
  }
  client.on('error', watch.onError);
  client.on('close', () => {
    if (!passing.takeOwnClose()) watch.onClose();
  });
  if ('sentinels' in config) {
    client.on('sentinelError', watch.onError);
    // Nothing closes while no sentinel names a master: the library asks them again and again, and reports only this.
    client.on('error', () => client.status === 'connecting' && watch.onClose());
  }
  return {
    client,
    commands: client,
    isReady: () => client.status === 'ready',
    close: async () => {
      watch.stop();
      await closeClient(client);
      duplicates.forEach(endNow);
    },
  };
}

function connect(config: RedisConfig, kind: ConnectionKind, passing: TransientErrors): Client {
  const common = optionsFor(kind, passing);
  const retries = { retryStrategy: passing.retryStrategy };
  const enableOfflineQueue = kind === 'worker';
  if ('url' in config) {
    const isTls = config.url.startsWith('rediss://');
    const ownTls = isTls ? { tls: tlsOf(config) } : {};
    return new Redis(socketPathOf(config.url), { ...common, ...ownTls, ...retries, enableOfflineQueue });
  }
  const { username, password, tls } = config;
  const credentials = {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls === true ? { tls: tlsOf(config) } : {}),
  };
  if ('sentinels' in config) {
    return new Redis({
      ...common,
      ...credentials,
      ...retries,
      enableOfflineQueue,
      sentinelRetryStrategy: retryStrategy,
      sentinelCommandTimeout: sentinelCommandTimeoutMs,
      sentinels: config.sentinels.map(({ host, port }) => ({ host, port })),
      name: config.name,
      ...(tls === true ? { enableTLSForSentinelMode: true, sentinelTLS: tlsOf(config) } : {}),
    });
  }
  const nodes: ClusterNode[] = config.cluster.map(({ host, port }) => ({ host, port }));
  return new Cluster(nodes, {
    enableOfflineQueue,
    clusterRetryStrategy: retryStrategy,
    ...(kind === 'worker' ? { maxRedirections: redirectionsMax } : {}),
    redisOptions: { ...common, ...credentials },
  });
}

function tlsOf({ ca }: RedisConfig): ConnectionOptions {
  return {
    // Said here, so that no variable of the environment turns it off.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
  };
}

function optionsFor(kind: ConnectionKind, { reconnectOnError }: TransientErrors) {
  const shared = {
    reconnectOnError,
    socketTimeout: silentMaxMs,
    // The library has it, if not in its types: so long it waits for the other side to end a connection, too.
    disconnectTimeout: quitWithinMs,
  };
  return (
    kind === 'worker'
      ? { ...shared, maxRetriesPerRequest: null }
      : { ...shared, maxRetriesPerRequest: 0, commandTimeout: handlerCommandTimeoutMs }
  ) satisfies CommonRedisOptions;
}

/** Waits a little longer each time, but never long: a fail-over takes seconds, and the work waits meanwhile. */
function retryStrategy(attempt: number): DurationMs {
  return Math.min(100 * attempt, 2_000);
}

function socketPathOf(url: string): string {
  return url.startsWith('unix://') ? url.slice('unix://'.length) : url;
}

function watchReachability(config: RedisConfig, notes: Partial<ReachabilityNotes> | undefined) {
  let last: 'unknown' | 'reachable' | 'unreachable' = 'unknown';
  let lastError: string = connectionWasClosed;
  let stopped = false;
  return {
    onReady: () => {
      if (last === 'reachable' || stopped) return;
      last = 'reachable';
      notes?.onReachable?.();
    },
    // An emitter without this listener would print or throw; the close that follows reports the reason.
    onError: (error: Error) => {
      // Of all sentinels together; the error of the last one, which came before it, says more.
      if (allSentinelsFailed.test(error.message)) return;
      lastError = saysClosed.has(errorCodeOf(error) ?? '')
        ? connectionWasClosed
        : (describeCertificateProblem(error, 'redis.caFile') ?? redactRedisText(error.message, config));
    },
    onClose: () => {
      if (last === 'unreachable' || stopped) return;
      last = 'unreachable';
      notes?.onUnreachable?.(lastError);
      lastError = connectionWasClosed;
    },
    stop: () => {
      stopped = true;
    },
  };
}

async function closeClient(client: Client): Promise<void> {
  if (client.status === 'ready') {
    // A quit that fails means that the connection is gone already, which is what we want.
    await within(quitWithinMs, client.quit()).catch(ignore);
  }
  endNow(client);
}

function ignore(): void {
  // Nothing to do.
}
