import {
  abortRollout,
  adminApiPath,
  getRollout,
  listRolloutCollectors,
  listRolloutEvents,
  listRollouts,
  pauseRollout,
  resumeRollout,
} from '../contract/admin-api.ts';
import type { RolloutEventBody, UpgradeBody } from '../contract/rollout-status.ts';
import { makeHttpClient } from '../http/client.ts';
import { HttpFault } from '../http/http-fault.ts';
import type { VerbRequest } from '../orchestrator/operations.ts';
import type { RolloutStatus } from '../rollout/status.ts';
import type { UpgradeState } from '../rollout/upgrade.ts';
import { readFault } from './admin-client-fault.ts';

export interface AdminClientParts {
  /** Of the daemon: `http://127.0.0.1:9464`. */
  readonly baseUrl: string;
  readonly token: string | undefined;
}

/** The daemon's API, for whoever sits in another process. Every call fails with an `AdminClientFault`. */
export interface AdminClient {
  /** Newest first, ended ones included. */
  listRollouts(signal?: AbortSignal): Promise<readonly RolloutStatus[]>;
  rolloutStatus(rolloutId: string, signal?: AbortSignal): Promise<RolloutStatus>;
  /** A page in plan order; `total` counts all pages. */
  listUpgrades(
    rolloutId: string,
    page: { readonly offset: number; readonly limit: number; readonly state?: UpgradeState },
    signal?: AbortSignal,
  ): Promise<{ readonly collectors: readonly UpgradeBody[]; readonly total: number }>;
  /** The latest, newest first. */
  readEvents(rolloutId: string, limit: number, signal?: AbortSignal): Promise<readonly RolloutEventBody[]>;
  /** When it answers, the verb holds (P4). */
  apply(request: VerbRequest, signal?: AbortSignal): Promise<RolloutStatus>;
  close(): Promise<void>;
}

const connectMs = 3_000;
/** The daemon itself answers a read within 3 s, if only with a 503. */
const readMs = 10_000;
/** A verb may wait for requests that are just leaving; the daemon bounds it by 60 s. */
const verbMs = 65_000;

const verbOperations = { pause: pauseRollout, resume: resumeRollout, abort: abortRollout } as const;

export function makeAdminClient({ baseUrl, token }: AdminClientParts): AdminClient {
  const http = makeHttpClient({
    baseUrl: `${baseUrl.replace(/\/+$/, '')}${adminApiPath}`,
    timeouts: { totalMs: verbMs, connectMs },
    hooks: { headers: () => (token === undefined ? {} : { authorization: `Bearer ${token}` }) },
  });
  const ask = async <Body>(
    call: () => Promise<{ readonly body: Body }>,
    signal?: AbortSignal,
  ): Promise<Body> => {
    try {
      return (await call()).body;
    } catch (error) {
      // Whoever gave up gets back the reason of its own.
      signal?.throwIfAborted();
      throw error instanceof HttpFault ? readFault(error, baseUrl) : error;
    }
  };
  const read = <Body>(
    call: (soon: AbortSignal) => Promise<{ readonly body: Body }>,
    signal?: AbortSignal,
  ) => {
    const timeout = AbortSignal.timeout(readMs);
    const soon = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    return ask(() => call(soon), signal);
  };
  return {
    listRollouts: async (signal) =>
      (await read((soon) => http.call(listRollouts, {}, { signal: soon }), signal)).rollouts,
    rolloutStatus: (id, signal) =>
      read((soon) => http.call(getRollout, { params: { id } }, { signal: soon }), signal),
    listUpgrades: (id, page, signal) =>
      read(
        (soon) => http.call(listRolloutCollectors, { params: { id }, query: page }, { signal: soon }),
        signal,
      ),
    readEvents: async (id, limit, signal) => {
      const input = { params: { id }, query: { limit } };
      return (await read((soon) => http.call(listRolloutEvents, input, { signal: soon }), signal)).events;
    },
    apply: ({ rolloutId: id, verb, by, reason }, signal) =>
      ask(
        () => http.call(verbOperations[verb], { params: { id }, body: { by, reason } }, { signal }),
        signal,
      ),
    close: () => http.close(),
  };
}
