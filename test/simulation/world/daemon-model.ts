import { setMaxListeners } from 'node:events';
import { makeConfigs } from '../../../src/orchestrator/configs/configs.ts';
import { findOrphans } from '../../../src/orchestrator/configs/find-orphans.ts';
import { followConfigs } from '../../../src/orchestrator/configs/follow-configs.ts';
import { isWaitedFor } from '../../../src/orchestrator/lead/lead.ts';
import { reconcile } from '../../../src/orchestrator/lead/reconcile.ts';
import { makeRecordBuilds } from '../../../src/orchestrator/lead/record-builds.ts';
import { makeOperations } from '../../../src/orchestrator/operations/make-operations.ts';
import type { RolloutOperations } from '../../../src/orchestrator/operations/operations.ts';
import { makeReload, type ReloadResult } from '../../../src/orchestrator/operations/reload-config.ts';
import { makeStartPolicy } from '../../../src/orchestrator/operations/start-policy.ts';
import type { EventSink } from '../../../src/orchestrator/ports/event-sink.ts';
import type { BackgroundTasks, StepOutcome, WakeUps } from '../../../src/orchestrator/ports/leader.ts';
import { latestScan } from '../../../src/orchestrator/ports/scan-book.ts';
import { makeAccounts } from '../../../src/orchestrator/records/judge-accounts.ts';
import { makePolicyClaims } from '../../../src/orchestrator/records/policy-claims.ts';
import { makeSharedAttributes } from '../../../src/orchestrator/records/shared-attributes.ts';
import { type ScanOrigin, scan } from '../../../src/orchestrator/scan/scan.ts';
import { runStep } from '../../../src/orchestrator/step/run-step.ts';
import type { StepParts } from '../../../src/orchestrator/step/step-run.ts';
import { makeObservations } from '../../../src/orchestrator/watch/observations.ts';
import { watchFleet } from '../../../src/orchestrator/watch/watch-fleet.ts';
import type { ScanResult } from '../../../src/rollout/messages/scans.ts';
import { isWatched } from '../../../src/rollout/upgrade/evolve.ts';
import { anApiBudgetStatus } from '../../support/builders.ts';
import { makeChances } from '../chances.ts';
import type { Night } from '../night.ts';
import {
  type PlantContext,
  planted,
  plantInClaims,
  plantInConfigs,
  plantInGates,
  plantInHistory,
  plantInVerb,
} from '../planted-bugs.ts';
import { doubtsClocks, readsAnew } from '../setup.ts';
import { slotOf } from './config-model.ts';
import { makeFleetPort } from './fleet-port.ts';
import type { JobModel } from './job-model.ts';
import { accessIdHash, type ProcessModel } from './process-model.ts';
import { makeConfigRegisterPort, makeRegisterPort, makeScanBookPort, makeStorePort } from './store-port.ts';

/** One life of a daemon: the real engine on ports of the world. */
export interface DaemonModel {
  readonly process: ProcessModel;
  readonly startedAt: number;
  readonly operations: RolloutOperations;
  /** Starts rollouts at an operator's request. */
  readonly starting: ReturnType<typeof makeStartPolicy>;
  /** Names of the policies of its config. */
  policies(): readonly string[];
  run(of: { readonly rolloutId: string; readonly collectorId: number }): Promise<StepOutcome>;
  scanNow(policy: string, origin: ScanOrigin): Promise<ScanResult | undefined>;
  /** Since when it has its config, in true time. */
  configSince(): number;
  /** Says that it lives, and brings the brakes of its config to the rollouts on their way. */
  beat(): Promise<void>;
  /** Reads this config, which its host has now. */
  reload(config: number): Promise<ReloadResult>;
  /**
   * Leads from now on, under this fence, until the lease is another's.
   * @param giveWay lets another one lead, whose rollouts this one does not serve
   */
  lead(fence: number, isStillLeader: () => boolean, giveWay: () => void): Promise<void>;
  /** The wakeUps was rung. */
  hear(): void;
  backgroundTasksOut(): number;
  readonly sink: EventSink;
}

/** As in the daemon's composition: request time-out and a little for the way. */
const answerWithinMs = 35_000;
const overdueMs = 3_000;
const deliverEveryMs = 2_000;
const againMs = 5_000;

// A leader looks every second even without news. Looks that would find the same again are skipped: those between, where
// nothing can have been lost, and where a job was lost, those before its step is overdue.
const pollMinMs = 1_000;
const pollMaxMs = 600_000;
const lookWhileLostMs = 3_000;

// As long as a leader leads while another one is waited for. In truth it is ten seconds (lead.ts), which costs a night more
// looks than all the rest.
const turnMs = 120_000;

/** As if every daemon had this config. */
const agreed = {
  check: async () => ({ kind: 'agreed', others: 0 }) as const,
  versionOf: () => undefined,
};

const own = async () => ({ kind: 'own' }) as const;

/** As if every rollout were of this account. */
const allOwn = { statusOf: own, settle: own };

export const requestsPerSecond = 1_000;

export function makeDaemonModel(
  night: Night,
  process: ProcessModel,
  parts: { readonly wakeUps: WakeUps; readonly jobs: JobModel },
): DaemonModel {
  const { scheduler, setup, verdicts } = night;
  // Nothing is aborted. What waits by it when the daemon dies goes with the daemon.
  const never = new AbortController().signal;
  setMaxListeners(0, never);
  let current = night.configs[process.host.config] ?? [];
  const rollouts = () => current;
  const { wakeUps, jobs } = parts;
  const chances = makeChances(setup.seed, `daemon/${process.name}`);
  const reach = night.stores.reach(process);
  const port = makeStorePort(night, process, reach);
  const { fleet: fleetPort, createFor } = makeFleetPort(night, process);
  const registerPort = makeRegisterPort(night, process, reach);
  const { clock } = process;
  const failed = (where: string, error: unknown): void =>
    verdicts.thrown(`${where} in ${process.name}`, error);
  const sink: EventSink = {
    report: (event) => {
      night.progress.spent('events');
      night.trace(
        process.name,
        () =>
          `${event.event} ${event.rollout} ${event.collectorId ?? event.wave ?? ''} ${event.reason} (${event.by})`,
      );
    },
    note: (note) => {
      night.progress.spent('events');
      if ('error' in note) failed(note.event, note.error);
    },
  };
  let rung = false;
  // More than one for a moment, when a stalled leader leads again.
  const sleepers = new Set<() => void>();
  let backgroundTasksOut = 0;
  const running = new Set<string>();
  const backgroundTasks: BackgroundTasks = {
    run: async (key, work) => {
      if (running.has(key)) return;
      running.add(key);
      // The watch goes on as long as there is something to watch, which keeps no night from its rest.
      const weight = key === 'watch' ? 0 : 1;
      backgroundTasksOut += weight;
      void (async () => {
        await process.wait(1);
        try {
          if ((await work(never)) === 'again') await process.wait(againMs);
        } catch (error) {
          failed(`backgroundTask ${key}`, error);
          await process.wait(againMs);
        }
        running.delete(key);
        backgroundTasksOut -= weight;
      })();
    },
  };
  // Nights model what is kept by the instant since which records are trusted alone.
  const createsWait = () => undefined;
  const { account, accessKey } = process.host;
  const accounts = makeAccounts({
    store: port,
    register: registerPort,
    fleet: fleetPort,
    clock,
    sink,
    wakeUps,
    backgroundTasks,
    createsWait,
    readMark: async () => ({ origin: 'https://api.example', accessIdHash: accessIdHash(account, accessKey) }),
  });
  let fileConfig = process.host.config;
  const configs = makeConfigs({
    register: makeConfigRegisterPort(night, process, () => fileConfig),
    sink,
    clock: { now: process.clocks.wallNow },
    followsSchedule: true,
  });
  const sharedAttributes = makeSharedAttributes();
  const policies = () => current.map(({ name }) => name);
  const scans = setup.features.steering ? makeScanBookPort(night, process) : night.scans;
  const claims = plantInClaims(night.plant, makePolicyClaims({ scans, clock, policies, configs }));
  const observations = makeObservations();
  const startedAt = scheduler.now();
  const rejoinedAt = () => {
    if (night.plant === 'storeTrustedBlindly') return 0;
    return night.rejoinedAt() > startedAt ? night.rejoinedAt() + answerWithinMs : startedAt;
  };
  const trustedSince = () => clock.now() - (scheduler.now() - rejoinedAt());
  const partsOf = (context: PlantContext) => ({
    configs: night.plant === 'olderConfigScans' ? { ...configs, ...agreed } : configs,
    accounts: night.plant === 'accountIgnored' ? { ...accounts, ...allOwn } : accounts,
    createsWait,
    ...planted(night.plant, context, { store: port, register: registerPort, fleet: fleetPort }),
    sharedAttributes,
    scans,
    claims,
    forecast: () => [],
    clock,
    sink,
    wakeUps,
    sleep: (forMs: number) => process.wait(forMs),
    answerWithinMs,
    trustedSince,
    random: chances.next,
    policies,
    rollouts,
    readApiBudgetStatus: async () => anApiBudgetStatus({ requestsPerSecondMax: requestsPerSecond }),
  });
  const renamesPolicies = setup.faults.policyRenamed > 0 || setup.faults.policyRemoved > 0;
  const givesWay = renamesPolicies || (setup.features.steering && setup.faults.otherAccount > 0);
  const leadParts = {
    ...partsOf('lead'),
    observations,
    requestsPerSecond,
    queue: jobs.queueOf(process),
    backgroundTasks,
    gates: plantInGates(night.plant, night.gates.probeOf(process, night.isTroubled)),
  };
  const watchParts = {
    ...partsOf('watch'),
    observations,
    queue: leadParts.queue,
  };
  const clockChecks =
    doubtsClocks(setup) && night.plant !== 'clocksTrusted'
      ? { isClockRight: process.isClockRight, compareClocks: process.compareClocks }
      : { isClockRight: () => true, compareClocks: async () => true };
  const stepParts = {
    ...partsOf('step'),
    ...clockChecks,
    observations,
    beginIntent: () => async () => true,
  };
  const partsOfSteps = new Map<string, StepParts>();
  const stepPartsOf = (rolloutId: string): StepParts => {
    const ports = { store: port, register: registerPort, fleet: createFor(rolloutId) };
    const made = partsOfSteps.get(rolloutId) ?? { ...stepParts, ...planted(night.plant, 'step', ports) };
    partsOfSteps.set(rolloutId, made);
    return made;
  };
  const followParts = { ...partsOf('operator'), configs: plantInConfigs(night.plant, configs) };
  const beat = async (): Promise<void> => {
    try {
      await configs.beat();
      await followConfigs(followParts, 'daemon');
    } catch (error) {
      failed('beat', error);
    }
  };
  // Before any step: a freeze that came with a restart holds from the first create on.
  const begun = readsAnew(setup) ? process.wait(1).then(beat) : undefined;
  let configSince = startedAt;
  const { reload } = makeReload({
    ...followParts,
    source: {
      read: () => {
        const next = night.configs[fileConfig] ?? [];
        const own = next.map(({ name }) => ({ policy: name, hash: String(fileConfig) }));
        return { kind: 'read', next: { rollouts: next, own, settings: [], needsRestart: [] } };
      },
      use: (next) => {
        current = next.rollouts;
      },
    },
  });
  const buildHistory = plantInHistory(night.plant, night.buildHistory);
  const operations = makeOperations({
    ...partsOf('operator'),
    installation: undefined,
    accountName: undefined,
    buildHistory,
  });
  const recordBuilds = makeRecordBuilds({ store: port, buildHistory: night.buildHistory, policies });
  const scanParts = {
    ...partsOf('scan'),
    memory:
      night.plant === 'needIgnored' ? { ...night.memory, stoppedRollout: () => undefined } : night.memory,
    buildHistory,
    ...clockChecks,
  };

  const starting = makeStartPolicy({
    ...scanParts,
    rollouts,
    readApiBudgetStatus: async () => anApiBudgetStatus({ requestsPerSecondMax: requestsPerSecond }),
    rolloutStatus: operations.rolloutStatus,
  });

  /** @returns when to look again at the latest */
  const reconcileAll = async (fence: number, overdue: number): Promise<number> => {
    let wakeAt = Number.POSITIVE_INFINITY;
    try {
      const active = await leadParts.store.activeRolloutIds(leadParts.policies());
      const orphans =
        renamesPolicies && night.plant !== 'orphansForgotten' ? await findOrphans(leadParts) : [];
      for (const rolloutId of [...active, ...orphans.map(({ id }) => id)]) {
        const at = await reconcile(leadParts, rolloutId, fence, overdue).catch((error: unknown) => {
          failed(`reconcile ${rolloutId}`, error);
          return clock.now() + pollMinMs;
        });
        wakeAt = Math.min(wakeAt, at ?? Number.POSITIVE_INFINITY);
      }
    } catch (error) {
      failed('reconcile', error);
      return clock.now() + pollMinMs;
    }
    return wakeAt;
  };
  const isAnotherAwaited = async (): Promise<boolean> => {
    try {
      return await isWaitedFor({ ...leadParts, accounts, configs, newerRecords: () => [] });
    } catch (error) {
      failed('turns of leaders', error);
      return false;
    }
  };
  const waitFor = (forMs: number): Promise<void> =>
    new Promise((resolve) => {
      const awake = () => {
        if (sleepers.delete(awake)) process.goOn(resolve);
      };
      sleepers.add(awake);
      scheduler.at(scheduler.now() + forMs, awake);
    });

  return {
    process,
    sink,
    startedAt,
    operations: {
      ...operations,
      apply: async (request) =>
        operations.apply(plantInVerb(night.plant, request, night.seen.all.get(request.rolloutId)?.rollout)),
    },
    run: async (of) => {
      if (begun !== undefined) await begun;
      return runStep(stepPartsOf(of.rolloutId), of, never);
    },
    starting,
    policies,
    configSince: () => configSince,
    beat,
    reload: async (config) => {
      fileConfig = config;
      configSince = scheduler.now();
      const result = await reload({ by: 'person', reason: '' });
      night.beatSoon();
      return result;
    },
    scanNow: async (name, origin) => {
      if (begun !== undefined) await begun;
      const policy = current.find((each) => each.name === name || slotOf(each.name) === name);
      if (policy === undefined || !mayWork(night, process)) return undefined;
      try {
        // The kept seeds of the nights that nothing steers need no history.
        if (setup.features.steering || setup.leansTo.includes('newerAfter')) await recordBuilds(never);
        const result = await scan(scanParts, policy, origin);
        if (setup.features.starts && result.kind === 'nothing' && result.why.kind === 'lost') {
          const entries = await night.scans.read();
          const own = entries.filter((entry) => entry.policy === policy.name);
          night.starts.waits(policy.name, latestScan(own));
        }
        return result;
      } catch (error) {
        failed('scan', error);
        return undefined;
      }
    },
    lead: async (fence, isStillLeader, giveWay) => {
      if (begun !== undefined) await begun;
      const turnEndsAt = scheduler.now() + turnMs;
      let deliveredAt = Number.NEGATIVE_INFINITY;
      let lookMs = pollMinMs;
      while (isStillLeader()) {
        rung = false;
        const isFirst = deliveredAt === Number.NEGATIVE_INFINITY;
        const isDeliveryDue = scheduler.now() - deliveredAt >= deliverEveryMs;
        if (isDeliveryDue) deliveredAt = scheduler.now();
        // With nobody to watch, it would ask the store, and go to sleep.
        if (isAnyWatched(night))
          await backgroundTasks.run('watch', (signal) => watchFleet(watchParts, isStillLeader, signal));
        const overdue = isFirst ? 0 : isDeliveryDue ? overdueMs : Number.POSITIVE_INFINITY;
        const wakeAt = await reconcileAll(fence, overdue);
        await night.notices?.announceBy({ process, sink }, leadParts);
        if (rung) {
          await process.wait(5);
          continue;
        }
        const isAwaited = givesWay && (await isAnotherAwaited());
        if (isAwaited && scheduler.now() >= turnEndsAt) return giveWay();
        const turnLeftMs = isAwaited ? Math.max(0, turnEndsAt - scheduler.now()) : Number.POSITIVE_INFINITY;
        const lostMs = Math.max(lookWhileLostMs, jobs.lostDueAt() + overdueMs - clock.now());
        await waitFor(Math.min(lookMs, lostMs, turnLeftMs, Math.max(5, wakeAt - clock.now())));
        lookMs = rung ? pollMinMs : Math.min(pollMaxMs, lookMs * 2);
      }
    },
    hear: () => {
      rung = true;
      for (const awake of [...sleepers]) awake();
    },
    backgroundTasksOut: () => (process.isAlive() ? backgroundTasksOut : 0),
  };
}

/** Whether it takes jobs, and leads: not while its clock is wrong. */
export function mayWork({ setup, plant }: Pick<Night, 'setup' | 'plant'>, process: ProcessModel): boolean {
  return !doubtsClocks(setup) || plant === 'clocksTrusted' || process.isClockRight();
}

function isAnyWatched({ seen }: Night): boolean {
  for (const { rollout, upgrades } of seen.all.values()) {
    if (rollout.endedAt !== null) continue;
    for (const upgrade of upgrades.values()) if (isWatched(upgrade)) return true;
  }
  return false;
}
