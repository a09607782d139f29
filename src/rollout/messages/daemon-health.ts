import { type DurationMs, type EpochMs, isoSecond } from '../../base/time.ts';
import { makeWords } from './sentences.ts';

/** The health of a part of the daemon, for `/readyz`. */
export type Health =
  | { readonly kind: 'serviceUnasked' }
  | { readonly kind: 'serviceWell' }
  /** `inRow`: number of consecutive faults. */
  | { readonly kind: 'serviceFault'; readonly status: number | string; readonly inRow: number }
  /** The daemons of this access key agree that the service is down. */
  | { readonly kind: 'serviceSaidDown'; readonly why: string }
  /** `ours`: the result of this daemon's last request. `until`: null while one request tries for all daemons. */
  | {
      readonly kind: 'serviceAwaited';
      readonly ours: string;
      readonly until: EpochMs | null;
      readonly reason: string;
    }
  | {
      readonly kind: 'serviceDown';
      readonly since: EpochMs | null;
      /** The next attempt; null if it is due. */
      readonly until: EpochMs | null;
      readonly cause: string;
    }
  | { readonly kind: 'receiversWell' }
  | {
      readonly kind: 'receiverFails';
      readonly name: string;
      readonly since: EpochMs;
      readonly reason: string;
      readonly retryAt: EpochMs;
    }
  | { readonly kind: 'reportsWell'; readonly directory: string }
  | { readonly kind: 'reportsFail'; readonly since: EpochMs; readonly reason: string }
  | { readonly kind: 'redisWell' }
  | { readonly kind: 'redisUnwritable'; readonly place: string; readonly refusal: string }
  /** `cause`: null if unknown. */
  | { readonly kind: 'redisAway'; readonly place: string; readonly cause: string | null }
  | { readonly kind: 'redisFault'; readonly place: string; readonly fault: string }
  | { readonly kind: 'configAgreed' }
  | { readonly kind: 'configRefused'; readonly problem: string }
  | { readonly kind: 'recordsWell' }
  | { readonly kind: 'recordsNewer'; readonly newer: readonly string[] }
  | { readonly kind: 'accountOwn' }
  | {
      readonly kind: 'accountForeign';
      readonly foreign: ReadonlyArray<{ readonly rolloutId: string; readonly reason: string }>;
    };

export const healthWords = makeWords<Health>({
  serviceUnasked: () => 'not asked yet',
  serviceWell: () => 'answers',
  serviceFault: ({ status, inRow }) =>
    inRow > 1 ? `last ${inRow} answers were faults: ${status}` : `last answer: ${status}`,
  serviceSaidDown: ({ why }) => `down: one request at a time tries it. ${why}`,
  serviceAwaited: ({ ours, until, reason }) =>
    `${ours}; ${until === null ? 'one request tries for all' : `all wait until ${isoSecond(until)}`}: ${reason}`,
  serviceDown: ({ since, until, cause }) => {
    const began = since === null ? '' : ` since ${isoSecond(since)}`;
    const next = until === null ? 'now' : `next at ${isoSecond(until)}`;
    return `down${began}: one request at a time tries it, ${next}. ${cause}`;
  },
  receiversWell: () => 'all receivers take their messages',
  receiverFails: ({ name, since, reason, retryAt }) =>
    `receiver ${name} has taken no messages since ${isoSecond(since)}: ${reason}; next attempt at ${isoSecond(retryAt)}`,
  reportsWell: ({ directory }) => `reports are written to ${directory}`,
  reportsFail: ({ since, reason }) => `no report has been written since ${isoSecond(since)}: ${reason}`,
  redisWell: () => 'connected',
  redisUnwritable: ({ place, refusal }) => `${place} refuses writes: ${refusal}`,
  redisAway: ({ place, cause }) => `no connection to ${place}${cause === null ? '' : `: ${cause}`}`,
  redisFault: ({ place, fault }) => `${place} answers with an error: ${fault}`,
  configAgreed: () => 'all daemons have the same config of each policy',
  configRefused: ({ problem }) =>
    `the config file has mistakes, so this daemon still uses the config that it read before: ${problem}`,
  recordsWell: () => 'this upwave can read every active rollout',
  recordsNewer: ({ newer }) => `left to daemons of a newer version: ${newer.join('; ')}`,
  accountOwn: () => 'every active rollout belongs to this account',
  accountForeign: ({ foreign }) =>
    `needs a person: ${foreign.map(({ rolloutId, reason }) => `${rolloutId} is left alone: ${reason}`).join('; ')}`,
});

/** Something that a process repeatedly does too late. */
export type Lateness =
  /** A create could not be sent within this time after its intent. */
  | { readonly kind: 'create'; readonly withinMs: DurationMs }
  /** Uses granted places in the API budget. */
  | { readonly kind: 'places'; readonly lateMs: DurationMs };

export const latenessWords = makeWords<Lateness>({
  create: ({ withinMs }) =>
    `a create could not leave within ${withinMs} ms of its intent, so the collector waits for its turn again`,
  places: ({ lateMs }) =>
    `this process uses its places in the API budget ${Math.ceil(lateMs)} ms too late, so it makes fewer requests`,
});
