import type { EpochMs } from '../../src/base/time.ts';
import type { BuildHold } from '../../src/contract/admin/status-parts.ts';
import type { Answer } from '../../src/orchestrator/ports/fleet-service.ts';
import type { StoreImage } from '../../src/rehearsal/store/memory-rollout-store.ts';
import type { AskedVerb } from '../../src/rollout/verbs/judge-verb.ts';
import type { PlantedOrder } from './planted-orders.ts';
import type { Call, Reply } from './rerun.ts';
import type { SmallService } from './small-service.ts';

/** What an actor does. */
export type Work =
  | { readonly kind: 'step'; readonly rolloutId: string; readonly collectorId: number }
  | { readonly kind: 'reconcile'; readonly rolloutId: string; readonly fence: number }
  | { readonly kind: 'verb'; readonly rolloutId: string; readonly asked: AskedVerb };

/** A piece of work of a daemon that has begun: where it stands follows from the replies that it got. */
export interface Actor {
  readonly id: number;
  readonly daemon: number;
  readonly work: Work;
  readonly startedAt: EpochMs;
  readonly log: readonly Reply[];
  /** The calls that it waits for. */
  readonly open: readonly Call[];
}

/** A create that left. */
export interface Create {
  readonly actor: number;
  readonly rolloutId: string;
  readonly collectorId: number;
  readonly leftAt: EpochMs;
  /** The service's answer once it has arrived. */
  readonly answer: Answer<{ readonly taskId: string }> | null;
}

export interface Job {
  readonly rolloutId: string;
  readonly collectorId: number;
  readonly dueAt: EpochMs;
}

/** How often each fault may still happen. */
export interface Faults {
  /** A daemon is killed and starts again. */
  readonly crash: number;
  /** A write of the store is not done, or done and not answered. */
  readonly storeFault: number;
  /** A create is not done, or its answer is lost. */
  readonly createLost: number;
  /** A job is delivered a second time while it runs. */
  readonly jobDoubled: number;
  /** The lease passes to the other daemon while the leader is busy. */
  readonly leaseLost: number;
  /** Time passes although somebody is busy: a daemon is suspended, or slow. */
  readonly suspend: number;
  /** The store loses its last writes, and all connections to it break. */
  readonly writesLost: number;
  /** A task fails. */
  readonly taskFails: number;
  /** The service withdraws the build. */
  readonly withdrawn: number;
}

/** Everything that there is in a small world, as data. A move makes another one from it. */
export interface SmallWorld {
  readonly now: EpochMs;
  readonly store: StoreImage;
  /** The store before each of its last writes, the latest last, while they may be lost. */
  readonly before: readonly StoreImage[];
  readonly buildHolds: readonly BuildHold[];
  readonly service: SmallService;
  /** By daemon: records from before this instant may lack a create. */
  readonly trustedSince: readonly EpochMs[];
  readonly leader: number;
  readonly fence: number;
  /** By rollout: when the leader looks at it next. */
  readonly looksAt: ReadonlyArray<readonly [rolloutId: string, at: EpochMs]>;
  readonly jobs: readonly Job[];
  readonly actors: readonly Actor[];
  readonly creates: readonly Create[];
  readonly faults: Faults;
  /** The verbs that may still be asked, in this order. */
  readonly verbs: readonly AskedVerb[];
  /** Rollouts of which an operator was told that nothing starts any more. */
  readonly stopped: readonly string[];
  /** Some writes were lost. Slots count again once polls have found the running upgrades (DESIGN §2). */
  readonly hasForgotten: boolean;
  /** The daemons read lists, so that a row may replace a poll, also one that has become old while its create waited. */
  readonly areListsRead: boolean;
  readonly nextActor: number;
  /** The bug that is put in. */
  readonly planted: PlantedOrder | null;
}
