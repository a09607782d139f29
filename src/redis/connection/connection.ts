import { type ConnectionOptions, rootCertificates } from 'node:tls';
import { Cluster, type ClusterNode, type CommonRedisOptions, Redis, type RedisCommander } from 'ioredis';
import { describeCertificateProblem, errorCodeOf } from '../../base/node-errors.ts';
import type { DurationMs } from '../../base/time.ts';
import { waitAtMost } from '../../base/waiting.ts';
import { type Client, endNow, patchClient } from './client-patches.ts';
import { type RedisConfig, redactRedisText } from './redis-config.ts';
import { describeSignInRefusal, isRightsRefusal } from './redis-errors.ts';
import { makeTransientErrors, type TransientErrors } from './transient-errors.ts';

/** The commands of one Redis, Sentinel master or Cluster. */
export type RedisCommands = RedisCommander<{ type: 'default'; mapping: 'resp2' }>;

export interface RedisConnection {
  /** The client itself, for libraries that need one. */
  readonly client: Client;
  readonly commands: RedisCommands;
  isReady(): boolean;
  /** Closes it with QUIT if Redis answers, else at once. It also ends duplicates that a library left open. */
  close(): Promise<void>;
}

/**
 * `worker`: commands wait until Redis is back; for a node of a Cluster, a minute. `handler`: for HTTP handlers, where a
 * quick error is better than a late response.
 */
export type ConnectionKind = 'worker' | 'handler';

/** Callbacks of a connection. Reasons contain no credentials (P12). */
export interface ReachabilityNotes {
  onReachable(): void;
  onUnreachable(reason: string): void;
  /**
   * Called each time a connection was reopened, or a cluster's nodes changed. Recent writes may be lost, because a promoted
   * replica may lack them.
   */
  onRejoined?(): void;
  /** Called for each transient error of the server or cluster, such as a replica's. Commands wait meanwhile. */
  onTransient?(error: Error): void;
  /** Called each time Redis refuses a command, a key or a channel to upwave's user, whichever library sent it. */
  onRightsRefused?(error: Error): void;
}

// An operator's page retries after a second or two. On a healthy Redis no command takes longer.
const handlerCommandTimeoutMs: DurationMs = 2_000;

// A network may drop a connection silently, which the system notices only after a quarter of an hour. Longer than the
// longest command, BullMQ's wait of 10 s for a job.
const silentMaxMs: DurationMs = 12_000;

// A command that a Cluster refuses because a node is down is retried every 100 ms, for a minute. The default of 16 is over
// before the cluster has failed over, and the write would be lost (P11).
const redirectionsMax = 600;

// Enough for a loaded Redis to confirm. A close is part of a shutdown and must end.
const quitWithinMs: DurationMs = 500;

const connectionWasClosed = 'the connection was closed';

// These errors mean the same to a reader; which one occurs depends on whether a command was in flight.
const closedCodes = new Set(['ECONNRESET', 'EPIPE']);

const allSentinelsFailed = /^All sentinels are unreachable/;

// A frozen sentinel must not delay the next one. A healthy one answers in a millisecond.
const sentinelCommandTimeoutMs: DurationMs = 2_000;

/** Connects to Redis. It does not throw when Redis is unreachable, but keeps trying and reports to `notes`. */
export function makeRedisConnection(
  config: RedisConfig,
  kind: ConnectionKind,
  notes?: Partial<ReachabilityNotes>,
): RedisConnection {
  const transient = makeTransientErrors((error) => notes?.onTransient?.(error));
  // ioredis calls it for every error reply, also in duplicated clients.
  const reconnectOnError = (error: Error) => {
    if (isRightsRefusal(error)) notes?.onRightsRefused?.(error);
    return transient.reconnectOnError(error);
  };
  const client = connect(config, kind, { ...transient, reconnectOnError });
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
    if (!transient.takeOwnClose()) watch.onClose();
  });
  if ('sentinels' in config) {
    client.on('sentinelError', watch.onError);
    // While no sentinel names a master, nothing closes: the library retries, and reports only this error.
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

function connect(config: RedisConfig, kind: ConnectionKind, transient: TransientErrors): Client {
  const common = optionsFor(kind, transient);
  const retries = { retryStrategy: transient.retryStrategy };
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
    // Set here, so that no environment variable disables it.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
  };
}

function optionsFor(kind: ConnectionKind, { reconnectOnError }: TransientErrors) {
  const shared = {
    reconnectOnError,
    socketTimeout: silentMaxMs,
    // Missing in the library's types. It also limits the wait for the other side to close a connection.
    disconnectTimeout: quitWithinMs,
  };
  return (
    kind === 'worker'
      ? { ...shared, maxRetriesPerRequest: null }
      : { ...shared, maxRetriesPerRequest: 0, commandTimeout: handlerCommandTimeoutMs }
  ) satisfies CommonRedisOptions;
}

/** Backs off, but stays short: a fail-over takes seconds, and work waits meanwhile. */
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
    // Without this listener the emitter would print or throw. The close that follows reports the reason.
    onError: (error: Error) => {
      // A summary of all sentinels. The error of the last one, which came before, has more details.
      if (allSentinelsFailed.test(error.message)) return;
      lastError = closedCodes.has(errorCodeOf(error) ?? '')
        ? connectionWasClosed
        : (describeCertificateProblem(error, 'redis.caFile') ??
          describeSignInRefusal(error) ??
          redactRedisText(error.message, config));
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
    // A failed QUIT means that the connection is already gone.
    await waitAtMost(quitWithinMs, client.quit()).catch(() => undefined);
  }
  endNow(client);
}
