import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { FleetCollector, FleetInventory, FleetSnapshot } from '../../rollout/model/collector.ts';
import type { CollectorObservation, TaskSighting } from '../../rollout/upgrade/facts.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';

/**
 * A create is sent right after its place is reserved and its intent is stored. A create that cannot be sent within this
 * time (stalled process, slow connection) is given up, so a pause need not wait longer for it (P4).
 */
export const sendWithinMs: DurationMs = 1_000;

export interface Build {
  readonly version: string;
  readonly latest: boolean;
}

/** What each list shows of a collector. */
export type ListedCollector = Pick<FleetCollector, 'id' | 'build' | 'alive' | 'lastSeenAlive'>;

/** One page of a list, with the service's own clock at its answer, if present. */
export interface ListedPage<Row extends ListedCollector = ListedCollector> {
  readonly collectors: readonly Row[];
  readonly serviceAt: EpochMs | null;
}

export type InventoryPage = ListedPage<FleetCollector>;

/** An upgrade task to be created. */
export interface CreateTask {
  readonly collectorId: number;
  readonly toBuild: string;
}

/** A request with its place in the API budget, for which others wait. It is sent or given up, once. */
export interface Reserved<Sent> {
  send(): Promise<Sent>;
  giveUp(): void;
}

export type ReservedCreate = Reserved<Answer<{ readonly taskId: string }>>;

/** The Collector Management Service as the orchestrator needs it. Every call waits for its place in the API budget (P8). */
export interface FleetService {
  listBuilds(signal?: AbortSignal): Promise<Answer<readonly Build[]>>;
  /** The whole inventory, and the collectors upgradable to this build. It retries transient errors a limited number of times. */
  readFleet(targetBuild: string, signal?: AbortSignal): Promise<Answer<FleetSnapshot>>;
  /**
   * The inventory alone: one request for each thousand collectors. Its first request is sent after the call.
   * @param onPage gets each page as it arrives, before the next request; a row may occur twice. With it nothing is retried,
   *   because such callers read again soon. Without it, concurrent callers share a reading
   */
  readInventory(
    onPage: ((page: InventoryPage) => Promise<void>) | null,
    signal?: AbortSignal,
  ): Promise<Answer<FleetInventory>>;
  /**
   * The collectors that the service would upgrade to this build now, page by page. Nothing is retried.
   * @returns how many pages it took, and whether its rows kept their order. Otherwise any of them may be missing, and
   *   else only a few that moved while others left the list
   */
  readUpgradable(
    toBuild: string,
    onPage: (page: ListedPage) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<Answer<{ readonly pages: number; readonly isInOrder: boolean }>>;
  /** One collector by its id or exact name; undefined when there is none, or it is not installed. */
  findCollector(idOrName: string, signal?: AbortSignal): Promise<Answer<FleetCollector | undefined>>;
  /**
   * Waits until the create of an upgrade task has its place in the API budget. A failure means that nothing was sent. If the
   * first byte cannot be sent within `sendWithinMs` of the reservation, the create ends as a `cancelled` failure with
   * `sent: false`.
   */
  reserveCreate(task: CreateTask, signal?: AbortSignal): Promise<Answer<ReservedCreate>>;
  pollTask(taskId: string, signal?: AbortSignal): Promise<Answer<TaskSighting>>;
  /**
   * `upgradableTo`: also find out whether the service would start an upgrade to this build now. With `listedSince`, an answer
   * from any instant since then is enough.
   */
  pollCollector(
    poll: {
      readonly collectorId: number;
      readonly upgradableTo: string | null;
      readonly urgent: boolean;
      readonly listedSince?: EpochMs;
    },
    signal?: AbortSignal,
  ): Promise<Answer<CollectorObservation>>;
}

/** An answer of the service, or the failure. Failures are data here: the core decides what they mean. */
export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: ServiceFailure };

/** Converts the value of an answer. */
export function mapAnswer<T, U>(answer: Answer<T>, change: (value: T) => U): Answer<U> {
  return answer.ok ? { ok: true, value: change(answer.value) } : answer;
}
