import type { VerbRequest } from '../../src/orchestrator/operations/operations.ts';
import type { FleetRegister } from '../../src/orchestrator/ports/fleet-register.ts';
import type { Answer, FleetService, ReservedCreate } from '../../src/orchestrator/ports/fleet-service.ts';
import type { RolloutStore } from '../../src/orchestrator/ports/rollout-store.ts';
import type { Configs } from '../../src/orchestrator/scan/configs.ts';
import type { FleetCollector } from '../../src/rollout/model/collector.ts';
import type { Policy } from '../../src/rollout/model/policy.ts';
import type { Rollout, StoredView, WaveState } from '../../src/rollout/model/rollout.ts';
import { end } from '../../src/rollout/upgrade/transitions.ts';

/** Bugs that are put in on purpose, to see that the simulation finds each. */
export const plantedBugs = [
  'slotLeak',
  'blindSecondCreate',
  'gateOffByOne',
  'pauseNotFinal',
  'capIgnored',
  'windowIgnored',
  'heldCollectorStarted',
  'driftApproved',
  'soakSkipped',
  'isolationForgotten',
  'gateUnasked',
  'targetMoved',
  'toldNotSeen',
  'rowEndsUpgrade',
  'lostUpgradeNotWaitedFor',
  'storeTrustedBlindly',
  'deferredGivenUp',
  'evidenceHoldStays',
  'accountIgnored',
  'refusalBelieved',
  'olderConfigScans',
  'joinerByOwnConfig',
  'dateBelieved',
  'missingTakenForWell',
  'anyListBelieved',
  'notFoundBelieved',
  'rollbackNotPolled',
  'olderBrakesReturn',
  'turnKept',
  'anyApprovalTaken',
  'rollbackAtOnce',
] as const;
export type PlantedBug = (typeof plantedBugs)[number];

export type PlantContext = 'lead' | 'step' | 'operator' | 'scan' | 'watch';

/** What a daemon sees of the store when it has this bug. */
export function plantInStore(
  bug: PlantedBug | null,
  store: RolloutStore,
  context: PlantContext,
): RolloutStore {
  switch (bug) {
    case 'slotLeak':
      return {
        ...store,
        admit: (admission, fence) => store.admit({ ...admission, slots: admission.slots + 1 }, fence),
        loadView: async (id, at) => {
          const view = await store.loadView(id, at);
          return view === undefined ? undefined : { ...view, slotsTaken: view.slotsTaken - 1 };
        },
      };
    case 'capIgnored':
      return {
        ...store,
        admit: (admission, fence) =>
          store.admit(
            { ...admission, domains: admission.domains.map((domain) => ({ ...domain, cap: 1_000 })) },
            fence,
          ),
        loadView: async (id, at) => {
          const view = await store.loadView(id, at);
          if (view === undefined) return undefined;
          // By another label, under which the policy has no cap for it.
          const domains = view.groups.domains.map(({ label }) => ({ label: `no ${label}`, cap: 1_000 }));
          return { ...view, groups: { ...view.groups, domains } };
        },
      };
    case 'gateOffByOne':
      return {
        ...withPolicy(store, (policy) => ({
          ...policy,
          waves: policy.waves.map((wave) => {
            const { maxFailures } = wave;
            const more = maxFailures.kind === 'count' ? maxFailures.count + 1 : 0;
            return maxFailures.kind === 'count'
              ? { ...wave, maxFailures: { kind: 'count', count: more } }
              : wave;
          }),
        })),
        saveUpgrade: (change, tripAbove) =>
          store.saveUpgrade(change, tripAbove === null ? null : tripAbove + 1),
        saveUpgrades: (id, changes, guard) => {
          const later = changes.map((change) => ({
            ...change,
            tripAbove: change.tripAbove === null ? null : change.tripAbove + 1,
          }));
          return store.saveUpgrades(id, later, guard);
        },
      };
    case 'pauseNotFinal':
      if (context !== 'step') return store;
      return {
        ...store,
        loadRollout: async (id) => {
          const rollout = await store.loadRollout(id);
          return rollout === undefined ? undefined : { ...rollout, state: 'running' };
        },
        saveIntent: async (change, rev) => {
          const result = await store.saveIntent(change, rev);
          return result === 'saved' ? result : store.saveUpgrade(change, null);
        },
      };
    case 'windowIgnored':
      return withPolicy(store, (policy) => ({ ...policy, windows: [], freezes: [] }));
    case 'soakSkipped':
      return withPolicy(store, (policy) => ({
        ...policy,
        waves: policy.waves.map((wave) => ({ ...wave, soakMs: 0 })),
      }));
    case 'gateUnasked':
      return withPolicy(store, (policy) => ({
        ...policy,
        waves: policy.waves.map((wave) => ({ ...wave, gates: [] })),
      }));
    case 'isolationForgotten':
      return withRollout(
        store,
        (rollout) => ({ ...rollout, heldStrata: [] }),
        (seen, truth) => ({
          ...seen,
          heldStrata: seen.heldStrata.length === 0 ? truth.heldStrata : seen.heldStrata,
        }),
      );
    case 'heldCollectorStarted':
      if (context !== 'operator') return store;
      return {
        ...store,
        saveUpgrade: async (change, tripAbove) =>
          change.after.progress.state === 'withdrawn' ? 'saved' : store.saveUpgrade(change, tripAbove),
      };
    case 'driftApproved':
      // The plan seems to have been made, and shown with its drift, this very moment.
      if (context !== 'operator') return store;
      return {
        ...store,
        loadRollout: async (id) => {
          const rollout = await store.loadRollout(id);
          const drift = { from: '', joined: 0, left: 0, words: '' };
          return rollout === undefined
            ? undefined
            : { ...rollout, drift, fleetReadAt: Number.POSITIVE_INFINITY };
        },
      };
    case 'rowEndsUpgrade':
      // What stirs is taken for what has ended well.
      if (context !== 'watch') return store;
      return {
        ...store,
        saveUpgrades: (id, changes, guard) => {
          const wrong = changes.map((change) => {
            const { before, after } = change;
            const isStirred =
              before.progress.state === 'upgrading' &&
              after.progress.state === 'upgrading' &&
              after.progress.dueAt < before.progress.dueAt;
            if (!isStirred) return change;
            return {
              ...change,
              after: end(before, 'succeeded', after.progress.dueAt, { kind: 'returned', late: false }),
            };
          });
          return store.saveUpgrades(id, wrong, guard);
        },
      };
    case 'deferredGivenUp':
      if (context !== 'lead') return store;
      return withView(store, (view) => ({
        ...view,
        waves: view.waves.map((wave) => {
          const { deferred, withdrawn } = wave.counts;
          return { ...wave, counts: { ...wave.counts, deferred: 0, withdrawn: withdrawn + deferred } };
        }),
      }));
    case 'evidenceHoldStays':
      if (context !== 'lead') return store;
      return withView(store, (view) => {
        const { heldFor: _heldFor, ...rollout } = view.rollout;
        return { ...view, rollout };
      });
    case 'anyListBelieved':
      // No member is ever missing, and no list is shorter than the one before.
      return {
        ...withRollout(
          store,
          ({ inventory: _inventory, ...rollout }) => rollout,
          (seen) => seen,
        ),
        listMemberIds: async () => [],
      };
    case 'turnKept':
      // A turn that was given by former brakes is as good as any.
      if (context !== 'step') return store;
      return {
        ...store,
        loadUpgrades: async (id, ids) => {
          const [read, rollout] = [await store.loadUpgrades(id, ids), await store.loadRollout(id)];
          const turnChanges = rollout?.config?.changes ?? 0;
          return {
            ...read,
            upgrades: read.upgrades.map((upgrade) => ({
              ...upgrade,
              tally: { ...upgrade.tally, turnChanges },
            })),
          };
        },
      };
    case 'rollbackAtOnce':
      // The canary of a rollback seems to have passed as soon as it is open.
      if (context !== 'lead') return store;
      return withRollout(
        store,
        (rollout) => withRollbackCanary(rollout, ['open', 'soaking'], 'passed'),
        (seen, truth) => withRollbackCanary(seen, ['passed'], truth.waves[0]?.state ?? 'passed'),
      );
    case 'joinerByOwnConfig':
      return context === 'scan'
        ? withPolicy(store, (policy) => ({ ...policy, select: { ...policy.select, exclude: [] } }))
        : store;
    case 'targetMoved':
      return context === 'step'
        ? store
        : {
            ...store,
            freeze: (plan) =>
              store.freeze({
                ...plan,
                upgrades: plan.upgrades.map((upgrade, index) =>
                  index === 0
                    ? { ...upgrade, identity: { ...upgrade.identity, toBuild: '19.506-1' } }
                    : upgrade,
                ),
              }),
          };
    default:
      return store;
  }
}

/** Whatever an approval names, what waits by now is approved. */
export function plantInVerb(bug: PlantedBug | null, request: VerbRequest, rollout?: Rollout): VerbRequest {
  if (bug !== 'anyApprovalTaken' || request.verb !== 'approve' || rollout === undefined) return request;
  const { rolloutId, by, reason } = request;
  const waits = rollout.waves.find(({ state }) => state === 'awaitingApproval');
  return rollout.state !== 'awaitingApproval' && waits !== undefined
    ? { verb: 'approve', wave: waits.name, rolloutId, by, reason }
    : { verb: 'approve', planHash: rollout.planHash, rolloutId, by, reason };
}

export function plantInConfigs(bug: PlantedBug | null, configs: Configs): Configs {
  if (bug !== 'olderBrakesReturn') return configs;
  return { ...configs, word: () => ({ generation: Number.MAX_SAFE_INTEGER, isTakenUp: true }) };
}

function withRollbackCanary(rollout: Rollout, from: readonly WaveState[], to: WaveState): Rollout {
  const [canary, ...rest] = rollout.waves;
  if (rollout.kind !== 'rollback' || canary === undefined || !from.includes(canary.state)) return rollout;
  return { ...rollout, waves: [{ ...canary, state: to }, ...rest] };
}

export function plantInRegister(
  bug: PlantedBug | null,
  register: FleetRegister,
  context: PlantContext,
): FleetRegister {
  if (bug !== 'heldCollectorStarted' || context === 'operator') return register;
  return {
    ...register,
    holds: async () => ({ ...(await register.holds()), collectors: [] }),
    holdsOf: async () => [],
  };
}

/** Creates that are sent in another way. */
function sendingBy(
  fleet: FleetService,
  sends: (
    send: ReservedCreate['send'],
    again: () => Promise<Answer<ReservedCreate>>,
  ) => ReturnType<ReservedCreate['send']>,
): FleetService['reserveCreate'] {
  return async (task, signal) => {
    const again = () => fleet.reserveCreate(task, signal);
    const reserved = await again();
    if (!reserved.ok) return reserved;
    return { ok: true, value: { ...reserved.value, send: () => sends(reserved.value.send, again) } };
  };
}

export function plantInFleet(
  bug: PlantedBug | null,
  fleet: FleetService,
  context: PlantContext,
): FleetService {
  if (bug === 'blindSecondCreate') {
    return {
      ...fleet,
      reserveCreate: sendingBy(fleet, async (send, again) => {
        const answer = await send();
        if (answer.ok || answer.failure.kind !== 'unavailable') return answer;
        const second = await again();
        return second.ok ? second.value.send() : second;
      }),
    };
  }
  if (bug === 'missingTakenForWell' && context === 'lead') return takingMissingForWell(fleet);
  if (bug === 'notFoundBelieved' && context === 'step') return believingNotFound(fleet);
  if (bug === 'rollbackNotPolled' && context === 'lead')
    return { ...fleet, findCollector: async () => ({ ok: true, value: undefined }) };
  if (bug === 'refusalBelieved') {
    // A refusal is never settled by a poll: what a person did in between is taken for the collector's fault.
    return {
      ...fleet,
      reserveCreate: sendingBy(fleet, async (send) => {
        const answer = await send();
        if (answer.ok || answer.failure.kind !== 'refused') return answer;
        const isVersion = answer.failure.code === 'collector.version.invalid';
        return isVersion
          ? { ok: false, failure: { ...answer.failure, code: 'collector.type.invalid' } }
          : answer;
      }),
    };
  }
  if (bug === 'toldNotSeen') {
    return {
      ...fleet,
      pollCollector: async (look, signal) => {
        const answer = await fleet.pollCollector(look, signal);
        if (!answer.ok || look.upgradableTo !== null || !look.urgent) return answer;
        const soon = (answer.value.serviceAt ?? 0) + 1;
        return { ok: true, value: { ...answer.value, alive: true, lastSeenAlive: soon } };
      },
    };
  }
  if (bug === 'lostUpgradeNotWaitedFor') {
    return {
      ...fleet,
      readFleet: async (build, signal) => {
        const answer = await fleet.readFleet(build, signal);
        if (!answer.ok) return answer;
        // As if each had been heard from at that very moment.
        const lastSeenAlive = answer.value.serviceAt ?? undefined;
        const collectors = answer.value.collectors.map((collector) => ({ ...collector, lastSeenAlive }));
        return { ok: true, value: { ...answer.value, collectors, offeredAt: null } };
      },
    };
  }
  return fleet;
}

/** Whoever a list lacks is as it was shown last, and was heard from just now. */
function takingMissingForWell(fleet: FleetService): FleetService {
  const known = new Map<number, FleetCollector>();
  return {
    ...fleet,
    readInventory: async (onPage, signal) => {
      const answer = await fleet.readInventory(onPage, signal);
      if (!answer.ok || onPage !== null) return answer;
      const { serviceAt, collectors } = answer.value;
      for (const collector of collectors) known.set(collector.id, collector);
      const heardAt = serviceAt ?? undefined;
      const all = [...known.values()].map((each) => ({ ...each, alive: true, lastSeenAlive: heardAt }));
      return { ok: true, value: { ...answer.value, collectors: all } };
    },
  };
}

/** A list that is read after a 404 shows nothing against it. */
function believingNotFound(fleet: FleetService): FleetService {
  const gone = new Set<number>();
  return {
    ...fleet,
    pollCollector: async (look, signal) => {
      const answer = await fleet.pollCollector(look, signal);
      if (answer.ok) gone.delete(look.collectorId);
      else if (answer.failure.kind === 'notFound') gone.add(look.collectorId);
      return answer;
    },
    readInventory: async (onPage, signal) => {
      const answer = await fleet.readInventory(onPage, signal);
      if (!answer.ok) return answer;
      const collectors = answer.value.collectors.filter(({ id }) => !gone.has(id));
      return { ok: true, value: { ...answer.value, collectors } };
    },
  };
}

function withView(store: RolloutStore, change: (view: StoredView) => StoredView): RolloutStore {
  return {
    ...store,
    loadView: async (id, at) => {
      const view = await store.loadView(id, at);
      return view === undefined ? undefined : change(view);
    },
  };
}

/** A store whose rollouts seem to have another policy; what is written has the true one. */
function withPolicy(store: RolloutStore, change: (policy: Policy) => Policy): RolloutStore {
  return withRollout(
    store,
    (rollout) => ({ ...rollout, policy: change(rollout.policy) }),
    (seen, truth) => ({ ...seen, policy: truth.policy }),
  );
}

function withRollout(
  store: RolloutStore,
  show: (rollout: Rollout) => Rollout,
  restore: (seen: Rollout, truth: Rollout) => Rollout,
): RolloutStore {
  return {
    ...store,
    loadRollout: async (id) => {
      const rollout = await store.loadRollout(id);
      return rollout === undefined ? undefined : show(rollout);
    },
    loadView: async (id, at) => {
      const view = await store.loadView(id, at);
      return view === undefined ? undefined : { ...view, rollout: show(view.rollout) };
    },
    join: async (plan, rev, fence) => {
      const truth = await store.loadRollout(plan.rollout.id);
      const rollout = truth === undefined ? plan.rollout : restore(plan.rollout, truth);
      return store.join({ ...plan, rollout }, rev, fence);
    },
    saveRollout: async (change, fence) => {
      const truth = await store.loadRollout(change.rollout.id);
      const rollout = truth === undefined ? change.rollout : restore(change.rollout, truth);
      return store.saveRollout({ ...change, rollout }, fence);
    },
  };
}
