import type { FleetRegister } from '../../src/orchestrator/ports/fleet-register.ts';
import type { RolloutStore } from '../../src/orchestrator/ports/rollout-store.ts';
import type { ScanBook } from '../../src/orchestrator/ports/scan-book.ts';
import type { StoreMemory } from '../../src/orchestrator/recovery/data-loss.ts';
import type { Policy } from '../../src/rollout/model/policy.ts';
import type { Chances } from './chances.ts';
import type { Brakes } from './judge/brakes.ts';
import type { CreateJudge } from './judge/judge-creates.ts';
import type { ProgressJudge } from './judge/judge-progress.ts';
import type { StartJudge } from './judge/judge-starts.ts';
import type { SeenRollout, SeenRollouts } from './judge/seen-rollouts.ts';
import type { ShownCollectors } from './judge/shown-collectors.ts';
import type { Verdicts } from './judge/verdicts.ts';
import type { HappeningKind } from './pairs/kinds.ts';
import type { Subject } from './pairs/meetings.ts';
import type { Steering } from './pairs/steering.ts';
import type { PlantedBug } from './planted-bugs.ts';
import type { FaultKind, Setup } from './setup.ts';
import type { NightStores } from './store/night-stores.ts';
import type { ConfigModel } from './world/config-model.ts';
import type { GateModel } from './world/gate-model.ts';
import type { GatewayModel } from './world/gateway-model.ts';
import type { NoticeModel } from './world/notice-model.ts';
import type { Orders } from './world/orders.ts';
import type { PastBuilds } from './world/past-builds.ts';
import type { Account, ProcessModel } from './world/process-model.ts';
import type { Scheduler } from './world/scheduler.ts';
import type { ServiceModel } from './world/service-model.ts';

/** A fault that the world put in; anything else that is thrown is a bug. */
export class InjectedFault extends Error {}

/** All that the parts of one simulated world share. */
export interface Night {
  readonly setup: Setup;
  readonly plant: PlantedBug | null;
  /** By config, the newest last. */
  readonly configs: ReadonlyArray<readonly Policy[]>;
  /** A config that nobody has yet. @returns its number */
  addConfig(policies: readonly Policy[]): number;
  /** Whether a config selects as the newest does: all but the first, where there is one from before the night. */
  selectsAnew(config: number): boolean;
  readonly brakes: Brakes;
  /** Each daemon says soon that it lives, as it does every two seconds in truth, and follows what it finds. */
  beatSoon(): void;
  /** Since when others can know of a daemon whose config has this policy and selects as the newest, in true time; infinite before. */
  newestSince(policy: string): number;
  /** What daemons know of each other's configs. */
  readonly configModel: ConfigModel;
  readonly scheduler: Scheduler;
  /** Of our account: where the night's mishaps happen. */
  readonly service: ServiceModel;
  readonly services: Readonly<Record<Account, ServiceModel>>;
  /** The service whose collectors a rollout was planned from. */
  serviceOf(rolloutId: string): ServiceModel;
  readonly gateway: GatewayModel;
  readonly shown: ShownCollectors;
  readonly stores: NightStores;
  /** The store and the register as judges and people reach them, whose calls always succeed. */
  readonly store: RolloutStore;
  readonly register: FleetRegister;
  readonly scans: ScanBook;
  readonly buildHistory: PastBuilds;
  /** Undefined in nights without notifications. */
  notices: NoticeModel | undefined;
  readonly gates: GateModel;
  /** Since when no living daemon's config has a policy of this name, in true time; undefined: one has. */
  missingSince(policy: string): number | undefined;
  readonly seen: SeenRollouts;
  readonly verdicts: Verdicts;
  readonly orders: Orders;
  readonly judge: CreateJudge;
  readonly progress: ProgressJudge;
  readonly starts: StartJudge;
  readonly skewMs: number;
  readonly staleMs: number;
  /** Things may still go wrong. */
  isTroubled(): boolean;
  /** Whether this fault happens now; counted when it does. */
  strikes(kind: FaultKind, chances: Chances): boolean;
  /** Counts one that was planned beforehand. @param subject what it is about; everything, where left out */
  struck(kind: FaultKind, subject?: Subject): void;
  /** Somebody speaks. */
  spoken(kind: HappeningKind, subject?: Subject): void;
  /** Makes happen what this night wants to meet something. */
  readonly steering: Steering;
  trace(who: string, words: () => string): void;
  /** A call of a daemon: it may give way, stall or crash here. @returns undefined when it goes on at once */
  point(process: ProcessModel): Promise<void> | undefined;
  /** The store loses all rollouts and jobs; what daemons remember of them is put back at once. */
  emptyStore(): void;
  /**
   * After this time the store is as it was before it, and all connections to it are made anew.
   * @param isAnyTime also where no create is lost by that
   */
  takeStoreBack(afterMs: number, isAnyTime?: boolean): void;
  /** The store's server starts again with the same data, and all connections to it are made anew. */
  restartStore(): void;
  /** Counts the stores that there were: another one means that calls on their way are lost. */
  storeInstances(): number;
  /** Since when a daemon's connection is one to the store that is there now, in true time. */
  rejoinedAt(): number;
  /** What the daemons remember of a store that was emptied. */
  readonly memory: StoreMemory;
  /** Upgrades were given their turn. */
  admitted(): void;
  /** Happens once, when the next ones are. */
  afterNextAdmission(happen: () => void): void;
  /** The store was written: something may have come to rest, or may be worth a look. */
  wrote(of: SeenRollout | undefined): void;
}
