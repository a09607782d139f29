import { type DurationMs, type EpochMs, formatDuration, isoSecond } from '../../base/time.ts';
import { makeText } from './sentences.ts';

/** When a part of the daemon began to fail, and why. */
interface Fault {
  readonly since: EpochMs;
  readonly reason: string;
}

/** The health of the parts of the daemon, for `/readyz`. */
export const healthText = {
  serviceUnasked: 'not asked yet',
  serviceWell: 'answers',
  serviceFault: (status: number | string, faultsInRow: number) =>
    faultsInRow > 1 ? `last ${faultsInRow} answers were faults: ${status}` : `last answer: ${status}`,
  /** The daemons of this access key agree that the service is down. */
  serviceSaidDown: (why: string) => `down: one request at a time tries it. ${why}`,
  /** @param ours the result of this daemon's last request. `until`: null while one request tries for all daemons */
  serviceAwaited: (
    ours: string,
    { until, reason }: { readonly until: EpochMs | null; readonly reason: string },
  ) =>
    `${ours}; ${until === null ? 'one request tries for all' : `all wait until ${isoSecond(until)}`}: ${reason}`,
  /** @param times `until`: the next attempt; null if it is due */
  serviceDown: (cause: string, { since, until }: Readonly<Record<'since' | 'until', EpochMs | null>>) => {
    const began = since === null ? '' : ` since ${isoSecond(since)}`;
    const next = until === null ? 'now' : `next at ${isoSecond(until)}`;
    return `down${began}: one request at a time tries it, ${next}. ${cause}`;
  },
  receiversWell: 'all receivers take their messages',
  receiverFails: (name: string, { since, reason, retryAt }: Fault & { readonly retryAt: EpochMs }) =>
    `receiver ${name} has taken no messages since ${isoSecond(since)}: ${reason}; next attempt at ${isoSecond(retryAt)}`,
  reportsWell: (directory: string) => `reports are written to ${directory}`,
  reportsFail: ({ since, reason }: Fault) =>
    `no report has been written since ${isoSecond(since)}: ${reason}`,
  redisWell: 'connected',
  redisUnwritable: (place: string, refusal: string) => `${place} refuses writes: ${refusal}`,
  redisAway: (place: string, cause: string | undefined) =>
    `no connection to ${place}${cause === undefined ? '' : `: ${cause}`}`,
  redisSilent: (place: string) => `${place} gives no answer`,
  redisFault: (place: string, fault: string) => `${place} answers with an error: ${fault}`,
  configAgreed: 'all daemons have the same config',
  configRefused: (problem: string) =>
    `the config file has errors, so this daemon still uses the config that it read before: ${problem}`,
  clockUnknown: "not compared with Redis's clock yet",
  clockWell: "agrees with Redis's clock",
  clockJumped: 'has jumped. This daemon waits for a comparison with the clock of Redis.',
  clockForbidsPlans: "this host's clock does not agree with Redis's clock. Synchronize both clocks",
  /** @param aheadMs negative: behind */
  clockWrong: (aheadMs: DurationMs) => {
    const by = formatDuration(Math.round(Math.abs(aheadMs) / 1_000) * 1_000);
    const way = aheadMs > 0 ? 'ahead of' : 'behind';
    return `The clock of this host is ${by} ${way} the clock of Redis. This daemon does not lead and upgrades nothing. Synchronize both clocks; the daemon continues automatically.`;
  },
  recordsWell: 'this upwave can read every active rollout',
  recordsNewer: (newer: readonly string[]) => `left to daemons of a newer version: ${newer.join('; ')}`,
  accountOwn: 'every active rollout belongs to this account',
  accountForeign: (foreign: ReadonlyArray<{ readonly rolloutId: string; readonly reason: string }>) =>
    `needs a person: ${foreign.map(({ rolloutId, reason }) => `${rolloutId} is left alone: ${reason}`).join('; ')}`,
};

/** Something that a process repeatedly does too late. */
export type Lateness =
  /** A create could not be sent within this time after its intent. */
  | { readonly kind: 'create'; readonly withinMs: DurationMs }
  /** Uses granted places in the API budget. */
  | { readonly kind: 'places'; readonly lateMs: DurationMs };

export const latenessText = makeText<Lateness>({
  create: ({ withinMs }) =>
    `a create could not leave within ${withinMs} ms of its intent, so the collector waits for its turn again`,
  places: ({ lateMs }) =>
    `this process uses its places in the API budget ${Math.ceil(lateMs)} ms too late, so it makes fewer requests`,
});
