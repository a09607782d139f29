import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { FleetCollector, FleetInventory, FleetSnapshot } from '../../rollout/model/collector.ts';
import type { CollectorObservation, TaskSighting } from '../../rollout/upgrade/facts.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';

/**
 * A create leaves right after its place is reserved and its intent is stored. One that could not within this time (a stalled
 * process, a connection that takes long to be made) does not leave any more, so that a pause need not wait longer for it (P4).
 */
export const sendWithinMs: DurationMs = 1_000;

export interface Build {
  readonly version: string;
  readonly latest: boolean;
}

/** What each list shows of a collector. */
export type ListedCollector = Pick<FleetCollector, 'id' | 'build' | 'alive' | 'lastSeenAlive'>;

/** One page of a list, with the service's own clock at its answer, where the answer shows it. */
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

/** A create that has its place in the API budget, which others wait for. It is sent, or given up, once. */
export interface ReservedCreate {
  /**
   * Sends it, unless its first byte can't leave within `sendWithinMs` of the reservation: then it ends as a `cancelled`
   * failure with `sent: false`.
   */
  send(): Promise<Answer<{ readonly taskId: string }>>;
  giveUp(): void;
}

/** The Collector Management Service, in our words. Every call waits for its place in the API budget (P8). */
export interface FleetService {
  listBuilds(signal?: AbortSignal): Promise<Answer<readonly Build[]>>;
  /** The whole inventory, and who could be upgraded to this build. Repeats what fails in passing, a bounded number of times. */
  readFleet(targetBuild: string, signal?: AbortSignal): Promise<Answer<FleetSnapshot>>;
  /**
   * The inventory alone: one request for each thousand collectors. Its first request leaves after the call.
   * @param onPage is shown each page as it comes, before the next one is asked for; a row may be shown twice. With it
   *   nothing is repeated: who looks at pages reads them again soon. Without it, callers at the same time share a reading
   */
  readInventory(
    onPage: ((page: InventoryPage) => Promise<void>) | null,
    signal?: AbortSignal,
  ): Promise<Answer<FleetInventory>>;
  /**
   * The collectors that the service would upgrade to this build now, page by page. Nothing is repeated; rows that move
   * while the list is read may be missed.
   * @returns how many pages it took
   */
  readUpgradable(
    toBuild: string,
    onPage: (page: ListedPage) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<Answer<number>>;
  /** One collector by its id, or by its exact name; undefined when there is none, or it is no installed one. */
  findCollector(idOrName: string, signal?: AbortSignal): Promise<Answer<FleetCollector | undefined>>;
  /** Waits until the create of an upgrade task has its place in the API budget. A failure means that nothing was sent. */
  reserveCreate(task: CreateTask, signal?: AbortSignal): Promise<Answer<ReservedCreate>>;
  pollTask(taskId: string, signal?: AbortSignal): Promise<Answer<TaskSighting>>;
  /**
   * `upgradableTo`: also ask whether the service would start an upgrade of it to this build now. With `listedSince`, that
   * it would have at any instant since will do.
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

/** An answer of the service, or why there was none: failures are data here, the core decides what they mean. */
export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: ServiceFailure };

/** The same answer with something made of its value. */
export function mapAnswer<T, U>(answer: Answer<T>, change: (value: T) => U): Answer<U> {
  return answer.ok ? { ok: true, value: change(answer.value) } : answer;
}
