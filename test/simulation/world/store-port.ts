import type { ConfigRegister } from '../../../src/orchestrator/ports/config-register.ts';
import type { FleetRegister } from '../../../src/orchestrator/ports/fleet-register.ts';
import type {
  FrozenPlan,
  RolloutStore,
  UpgradeChange,
} from '../../../src/orchestrator/ports/rollout-store.ts';
import { rolloutReasonWords } from '../../../src/rollout/messages/rollout-reasons.ts';
import type { Rollout } from '../../../src/rollout/model/rollout.ts';
import { makeChances } from '../chances.ts';
import { judgeApproval } from '../judge/judge-approval.ts';
import { judgeEnding, judgeHold, judgeRolledBack } from '../judge/judge-evidence.ts';
import { judgeJoiners, judgePlan } from '../judge/judge-plans.ts';
import { judgeRollout } from '../judge/judge-rollouts.ts';
import { judgeUpgrade } from '../judge/judge-upgrades.ts';
import { judgeWaves } from '../judge/judge-waves.ts';
import { InjectedFault, type Night } from '../night.ts';
import type { ProcessModel } from './process-model.ts';

type Call = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/** A daemon's connection to the store: each call may be late, lost, or be answered to nobody; each write is judged. */
export function makeStorePort(night: Night, process: ProcessModel): RolloutStore {
  const { store, seen } = night;
  const call = makeCall(night, process);
  const saved = (change: UpgradeChange): void => {
    const { before, after } = change;
    night.trace(
      process.name,
      () =>
        `${after.identity.rolloutId} ${after.identity.collectorId}: ${before.progress.state} -> ${after.progress.state}`,
    );
    judgeUpgrade(night, change);
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
        `${rollout.id}: ${before.state} -> ${rollout.state} (${rolloutReasonWords(rollout.reason)}) ${rollout.waves.map(({ state }) => state).join(' ')}`,
    );
    const countsLostEvidence = night.setup.features.evidenceLostInSoak;
    judgeWaves({ ...night, now: night.scheduler.now, countsLostEvidence }, of, before);
    judgeRollout(night, of, before);
    judgeApproval(night, of, before);
    judgeHold(night, of, before);
    judgeRolledBack(night, of, before);
    night.brakes.judge(night.verdicts, of);
    night.wrote(of);
  };
  const told = (word: string, plan: FrozenPlan): void =>
    night.trace(process.name, () => `${word} ${plan.rollout.id}: ${plan.upgrades.length} collectors`);
  return {
    activeRolloutIds: (policies) => call('activeRolloutIds', () => store.activeRolloutIds(policies)),
    findUpgradesOf: (policies, id) => call('findUpgradesOf', () => store.findUpgradesOf(policies, id)),
    currentRollouts: (policies) => call('currentRollouts', () => store.currentRollouts(policies)),
    pageRollouts: (policies, page) => call('pageRollouts', () => store.pageRollouts(policies, page)),
    listRollouts: (policies) => call('listRollouts', () => store.listRollouts(policies)),
    loadRollout: (id) => call('loadRollout', () => store.loadRollout(id)),
    nextRolloutNumber: (policy, day) => call('nextRolloutNumber', () => store.nextRolloutNumber(policy, day)),
    freeze: (plan) =>
      call('freeze', async () => {
        const result = await store.freeze(plan);
        if (result === 'frozen') {
          told('froze', plan);
          night.wrote(seen.frozen(plan, process.host.account));
          night.beatSoon();
          judgePlan(night, process, plan);
        }
        return result;
      }),
    replan: (plan, rev) =>
      call('replan', async () => {
        const result = await store.replan(plan, rev);
        if (result === 'saved') {
          told('replanned', plan);
          seen.replanned(plan);
        }
        return result;
      }),
    join: (plan, rev, fence) =>
      call('join', async () => {
        const result = await store.join(plan, rev, fence);
        if (result === 'saved') {
          told('joined', plan);
          judgeJoiners(night, process, plan);
          seen.joined(plan);
        }
        return result;
      }),
    rejoin: (id, changes, rev) =>
      call('rejoin', async () => {
        const rejoined = await store.rejoin(id, changes, rev);
        for (const change of changes) if (rejoined.includes(change.after.identity.collectorId)) saved(change);
        return rejoined;
      }),
    packEnded: (policies, before, signal) =>
      call('packEnded', () => store.packEnded(policies, before, signal)),
    loadGroups: (id) => call('loadGroups', () => store.loadGroups(id)),
    loadView: (id, at) => call('loadView', () => store.loadView(id, at)),
    saveRollout: (change, fence) =>
      call('saveRollout', async () => {
        const result = await store.saveRollout(change, fence);
        if (result === 'saved') savedRollout(change.rollout);
        return result;
      }),
    loadUpgrade: (id, collectorId) => call('loadUpgrade', () => store.loadUpgrade(id, collectorId)),
    loadUpgrades: (id, ids) => call('loadUpgrades', () => store.loadUpgrades(id, ids)),
    // Draws no chance: each reading of the inventory asks it, and what else it asks then may fail.
    listMemberIds: (id) => store.listMemberIds(id),
    listUpgrades: (id, page) => call('listUpgrades', () => store.listUpgrades(id, page)),
    listMissed: (id, of) => call('listMissed', () => store.listMissed(id, of)),
    repair: (of, replace) => call('repair', () => store.repair(of, replace)),
    listDue: (id, limit) => call('listDue', () => store.listDue(id, limit)),
    admit: (admission, fence) =>
      call('admit', async () => {
        const admitted = await store.admit(admission, fence);
        for (const change of admission.changes)
          if (admitted.includes(change.after.identity.collectorId)) saved(change);
        if (admitted.length > 0) night.admitted();
        return admitted;
      }),
    saveUpgrade: (change, tripAbove) =>
      call('saveUpgrade', async () => {
        const result = await store.saveUpgrade(change, tripAbove);
        if (result === 'saved') saved(change);
        return result;
      }),
    saveUpgrades: (id, changes, guard) =>
      call('saveUpgrades', async () => {
        const collectors = await store.saveUpgrades(id, changes, guard);
        for (const change of changes)
          if (collectors.includes(change.after.identity.collectorId)) saved(change);
        return collectors;
      }),
    saveIntent: (change, rev) =>
      call('saveIntent', async () => {
        const result = await store.saveIntent(change, rev);
        if (result === 'saved') saved(change);
        return result;
      }),
    countFreshIntents: (id, withinMs) =>
      call('countFreshIntents', () => store.countFreshIntents(id, withinMs)),
    readEvents: (id, page) => call('readEvents', () => store.readEvents(id, page)),
  };
}

export function makeRegisterPort(night: Night, process: ProcessModel): FleetRegister {
  const { register } = night;
  const call = makeCall(night, process);
  return {
    holds: () => call('holds', () => register.holds()),
    heldBuilds: () => call('heldBuilds', () => register.heldBuilds()),
    holdsOf: (ids) => call('holdsOf', () => register.holdsOf(ids)),
    holdBuild: (hold) => call('holdBuild', () => register.holdBuild(hold)),
    holdCollector: (hold) => call('holdCollector', () => register.holdCollector(hold)),
    releaseBuild: (build) => call('releaseBuild', () => register.releaseBuild(build)),
    releaseCollector: (id) => call('releaseCollector', () => register.releaseCollector(id)),
    audit: (entry) => call('audit', () => register.audit(entry)),
    readAudit: (limit) => call('readAudit', () => register.readAudit(limit)),
    firstSeen: (builds, at) => call('firstSeen', () => register.firstSeen(builds, at)),
    lastOffered: () => call('lastOffered', () => register.lastOffered()),
  };
}

/** Where it says which config it has, and reads what the others say. */
export function makeConfigRegisterPort(
  night: Night,
  process: ProcessModel,
): Pick<ConfigRegister, 'beat' | 'replace'> {
  const call = makeCall(night, process, 'configs');
  return {
    beat: () => call('beat', async () => night.configModel.seenBy(process)),
    replace: ([first]) => {
      if (first !== undefined) night.configModel.replace(process, Number(first.hash));
    },
  };
}

function makeCall(night: Night, process: ProcessModel, of = 'store'): Call {
  const chances = makeChances(night.setup.seed, `${of}/${process.name}`);
  return async (name, work) => {
    // A promise that has nothing to wait for costs as much as the rest of the call, millions of times.
    const before = night.point(process);
    if (before !== undefined) await before;
    if (night.strikes('storeFails', chances)) throw new InjectedFault(`${name}: the store is away`);
    const births = night.storeInstances();
    const result = await work();
    const after = night.point(process);
    if (after !== undefined) await after;
    if (births !== night.storeInstances()) throw new InjectedFault(`${name}: the connection was lost`);
    if (night.strikes('storeAnswerLost', chances)) throw new InjectedFault(`${name}: the answer was lost`);
    return result;
  };
}
