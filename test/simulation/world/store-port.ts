import type { ConfigRegister } from '../../../src/orchestrator/ports/config-register.ts';
import type { FleetRegister } from '../../../src/orchestrator/ports/fleet-register.ts';
import type {
  FrozenPlan,
  RolloutStore,
  UpgradeChange,
} from '../../../src/orchestrator/ports/rollout-store.ts';
import type { ScanBook } from '../../../src/orchestrator/ports/scan-book.ts';
import { rolloutReasonText } from '../../../src/rollout/messages/rollout-reasons.ts';
import type { Rollout } from '../../../src/rollout/model/rollout.ts';
import { makeChances } from '../chances.ts';
import { judgeApproval } from '../judge/judge-approval.ts';
import { judgeEnding, judgeHold, judgeRolledBack } from '../judge/judge-evidence.ts';
import { judgeHistory } from '../judge/judge-history.ts';
import { judgeJoiners, judgePlan } from '../judge/judge-plans.ts';
import { judgeRollout } from '../judge/judge-rollouts.ts';
import { judgeStrata } from '../judge/judge-strata.ts';
import { judgeUpgrade } from '../judge/judge-upgrades.ts';
import { judgeWaves } from '../judge/judge-waves.ts';
import { InjectedFault, type Night } from '../night.ts';
import type { Reach } from '../store/night-stores.ts';
import type { ProcessModel } from './process-model.ts';

type Call = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/** A daemon's connection to the store: each call may be late, lost, or be answered to nobody; each write is judged. */
export function makeStorePort(night: Night, process: ProcessModel, reach: Reach): RolloutStore {
  const { seen } = night;
  const { store } = reach;
  const saved = (change: UpgradeChange): void => {
    const { before, after } = change;
    night.trace(
      process.name,
      () =>
        `${after.identity.rolloutId} ${after.identity.collectorId}: ${before.progress.state} -> ${after.progress.state}`,
    );
    judgeUpgrade(night, change);
    night.progress.changed(change);
    judgeEnding(night, change);
    night.wrote(seen.upgradeSaved(change));
  };
  const savedRollout = (rollout: Rollout): void => {
    const found = seen.rolloutSaved(rollout);
    if (found === undefined) return;
    const { seen: of, before } = found;
    night.trace(
      process.name,
      () =>
        `${rollout.id}: ${before.state} -> ${rollout.state} (${rolloutReasonText(rollout.reason)}) ${rollout.waves.map(({ state }) => state).join(' ')}`,
    );
    night.gates.stored(rollout);
    judgeWaves({ ...night, now: night.scheduler.now }, of, before);
    judgeRollout(night, of, before);
    judgeStrata(night, of, before);
    judgeApproval(night, of, before);
    judgeHold(night, of, before);
    judgeRolledBack(night, of, before);
    night.brakes.judge(night.verdicts, of);
    night.wrote(of);
  };
  const reported = (word: string, plan: FrozenPlan): void =>
    night.trace(process.name, () => {
      const risky = (plan.groups.risks ?? []).map(({ label, sizes }) => `${label} (${sizes.join(', ')})`);
      const first = risky.length === 0 ? '' : `, first of ${risky.join(' and ')}`;
      return `${word} ${plan.rollout.id}: ${plan.upgrades.length} collectors${first}`;
    });
  const savedOf = (changes: readonly UpgradeChange[], collectors: readonly number[]) => {
    for (const change of changes) if (collectors.includes(change.after.identity.collectorId)) saved(change);
    return collectors;
  };
  /** The store, which tells the judges of each write that it took. */
  const judged: RolloutStore = {
    ...store,
    freeze: async (plan) => {
      const result = await store.freeze(plan);
      if (result !== 'frozen') return result;
      reported('froze', plan);
      night.wrote(seen.frozen(plan, process.host.account));
      night.beatSoon();
      judgePlan(night, process, plan);
      judgeHistory(night, plan);
      night.starts.planned(plan.rollout);
      night.judge.planned(plan.rollout.id);
      return result;
    },
    replan: async (plan, rev) => {
      const result = await store.replan(plan, rev);
      if (result !== 'saved') return result;
      reported('replanned', plan);
      seen.replanned(plan);
      judgeHistory(night, plan);
      return result;
    },
    join: async (plan, rev, fence) => {
      const result = await store.join(plan, rev, fence);
      if (result !== 'saved') return result;
      reported('joined', plan);
      judgeJoiners(night, process, plan);
      seen.joined(plan);
      return result;
    },
    rejoin: async (id, changes, rev) => savedOf(changes, await store.rejoin(id, changes, rev)),
    saveRollout: async (change, fence) => {
      const result = await store.saveRollout(change, fence);
      if (result === 'saved') savedRollout(change.rollout);
      return result;
    },
    admit: async (admission, fence) => {
      const admitted = savedOf(admission.changes, await store.admit(admission, fence));
      if (admitted.length > 0) night.admitted();
      return admitted;
    },
    saveUpgrades: async (id, changes, guard) =>
      savedOf(changes, await store.saveUpgrades(id, changes, guard)),
    saveIntent: async (change, rev) => {
      const result = await store.saveIntent(change, rev);
      if (result === 'saved') saved(change);
      return result;
    },
  };
  // Draws no chance: each reading of the inventory asks it, and what else it asks then may fail.
  return { ...eachThrough(makeCall(night, process, reach), judged), listMemberIds: store.listMemberIds };
}

export function makeRegisterPort(night: Night, process: ProcessModel, reach: Reach): FleetRegister {
  return eachThrough(makeCall(night, process, reach), reach.register);
}

/** The book of scans, which is in the store as well. */
export function makeScanBookPort(night: Night, process: ProcessModel): ScanBook {
  return eachThrough(makeCall(night, process, undefined, 'scans'), night.scans);
}

/** The same port, each of whose calls goes this way. */
function eachThrough<Port extends object>(call: Call, port: Port): Port {
  const calls = Object.entries(port).map(([name, work]) => [
    name,
    (...args: readonly unknown[]) =>
      call(name, () => (work as (...given: readonly unknown[]) => Promise<unknown>)(...args)),
  ]);
  return Object.fromEntries(calls) as Port;
}

/** Where it says which config it has, and reads what the others say. @param fileConfig the one that it read last */
export function makeConfigRegisterPort(
  night: Night,
  process: ProcessModel,
  fileConfig: () => number,
): Pick<ConfigRegister, 'beat' | 'replace'> {
  const call = makeCall(night, process, undefined, 'configs');
  return {
    beat: () => call('beat', async () => night.configModel.seenBy(process)),
    replace: () => night.configModel.replace(process, fileConfig()),
  };
}

function makeCall(night: Night, process: ProcessModel, reach: Reach | undefined, of = 'store'): Call {
  const chances = makeChances(night.setup.seed, `${of}/${process.name}`);
  return async (name, work) => {
    night.progress.spent('calls');
    // A promise that has nothing to wait for costs as much as the rest of the call, millions of times.
    const before = night.point(process);
    if (before !== undefined) await before;
    if (night.strikes('storeFails', chances)) throw new InjectedFault(`${name}: the store is away`);
    const births = night.storeInstances();
    const result = await work();
    const fault = reach?.takeFault();
    if (fault !== undefined) throw fault;
    const after = night.point(process);
    if (after !== undefined) await after;
    if (births !== night.storeInstances()) throw new InjectedFault(`${name}: the connection was lost`);
    if (night.strikes('storeAnswerLost', chances)) throw new InjectedFault(`${name}: the answer was lost`);
    return result;
  };
}
