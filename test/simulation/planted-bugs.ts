import type { Configs } from '../../src/orchestrator/configs/configs.ts';
import type { VerbRequest } from '../../src/orchestrator/operations/operations.ts';
import type { BuildHistory } from '../../src/orchestrator/ports/build-history.ts';
import type { FleetRegister } from '../../src/orchestrator/ports/fleet-register.ts';
import type { Answer, FleetService, ReservedCreate } from '../../src/orchestrator/ports/fleet-service.ts';
import type { GateProbe } from '../../src/orchestrator/ports/gate-probe.ts';
import type { Outbox } from '../../src/orchestrator/ports/notifications.ts';
import type { RolloutStore } from '../../src/orchestrator/ports/rollout-store.ts';
import type { PolicyClaims } from '../../src/orchestrator/records/policy-claims.ts';
import type { FleetCollector } from '../../src/rollout/model/collector.ts';
import { isSearchGate, type Policy, type WaveRule } from '../../src/rollout/model/policy.ts';
import type { Rollout, StoredView, WaveState } from '../../src/rollout/model/rollout.ts';
import type { Upgrade } from '../../src/rollout/model/upgrade.ts';
import { endUpgrade } from '../../src/rollout/upgrade/transitions.ts';
import type { SetupChanges } from './setup.ts';

export type PlantContext = 'lead' | 'step' | 'operator' | 'scan' | 'watch' | 'status';

/** What a daemon with a bug sees, or does, otherwise; what is left out is as it is. */
interface Plant {
  /** A night that finds it, among the cheapest: a test need not search again. */
  readonly firstSeed: number;
  /** The promise whose judge sees it first; any, where left out. */
  readonly foundBy?: string;
  /** What finds it, of that which only makes the other bugs slower to find. */
  readonly needs?: ReadonlyArray<(typeof unneeded)[number]>;
  /** Faults that it takes, which nights seldom bring together. */
  readonly most?: SetupChanges['most'];
  /** The only parts of the daemon that have it; where left out, all but its status. */
  readonly in?: PlantContext | readonly PlantContext[];
  readonly store?: (store: RolloutStore) => RolloutStore;
  readonly register?: (register: FleetRegister, context: PlantContext) => FleetRegister;
  readonly fleet?: (fleet: FleetService) => FleetService;
  readonly configs?: (configs: Configs) => Configs;
  readonly gates?: (gates: GateProbe) => GateProbe;
  readonly claims?: (claims: PolicyClaims) => PolicyClaims;
  readonly outbox?: (outbox: Outbox) => Outbox;
  readonly history?: (history: Pick<BuildHistory, 'read'>) => Pick<BuildHistory, 'read'>;
  readonly verb?: (request: VerbRequest, rollout: Rollout) => VerbRequest;
  /** In the source of a script: only nights on a real store can find it. */
  readonly script?: (lua: string) => string;
}

const unneeded = [
  'reload',
  'steering',
  'notices',
  'noticeFails',
  'policyRenamed',
  'policyRemoved',
  'searchLate',
  'suspend',
  'clockWrong',
  'pace',
  'ownCalendar',
  'share',
  'history',
  'starts',
  'takeovers',
] as const;

/** Nights that nothing steers: as cheap as their seeds are. */
export const unsteered: SetupChanges = { without: unneeded.filter((kind) => kind !== 'reload') };

/** The changes with which the nights from `firstSeed` on find a bug soon. */
export function changesToFind(bug: PlantedBug): SetupChanges {
  const needs: readonly string[] = whereFound[bug].needs ?? [];
  const { most = [] } = whereFound[bug];
  return { without: unneeded.filter((kind) => !needs.includes(kind)), most };
}

// Of a fleet that is spread by its system.
const systemNames = ['Linux', 'Windows', 'Mac OS X'];

/** Bugs that are put in on purpose, to see that the simulation finds each. */
const plants = {
  slotLeak: {
    firstSeed: 1,
    store: (store) => ({
      ...withView(store, (view) => ({ ...view, slotsTaken: view.slotsTaken - 1 })),
      admit: (admission, fence) => store.admit({ ...admission, slots: admission.slots + 1 }, fence),
    }),
  },
  blindSecondCreate: {
    firstSeed: 3,
    fleet: (fleet) =>
      sending(fleet, async (send, again) => {
        const answer = await send();
        if (answer.ok || answer.failure.kind !== 'unavailable') return answer;
        const second = await again();
        return second.ok ? second.value.send() : second;
      }),
  },
  gateOffByOne: {
    firstSeed: 91,
    store: (store) => ({
      ...withWaves(store, (wave) => {
        const { maxFailures } = wave;
        if (maxFailures.kind !== 'count') return wave;
        return { ...wave, maxFailures: { kind: 'count', count: maxFailures.count + 1 } };
      }),
      saveUpgrades: (id, changes, guard) => {
        const later = changes.map((change) => ({ ...change, brakeAbove: oneMore(change.brakeAbove) }));
        return store.saveUpgrades(id, later, guard);
      },
    }),
  },
  pauseNotFinal: {
    firstSeed: 112,
    in: 'step',
    store: (store) => ({
      ...store,
      loadRollout: changed(store.loadRollout, (rollout) => ({ ...rollout, state: 'running' })),
      saveIntent: async (change, rev) => {
        const result = await store.saveIntent(change, rev);
        if (result === 'saved') return result;
        const { rolloutId } = change.after.identity;
        const anyway = await store.saveUpgrades(rolloutId, [{ ...change, brakeAbove: null }], {});
        return anyway.length > 0 ? 'saved' : 'stale';
      },
    }),
  },
  capIgnored: {
    firstSeed: 27,
    store: (store) => ({
      // By another label, under which the policy has no cap for it.
      ...withView(store, ({ groups, ...view }) => {
        const domains = groups.domains.map(({ label }) => ({ label: `no ${label}`, cap: 1_000 }));
        return { ...view, groups: { ...groups, domains } };
      }),
      admit: (admission, fence) => {
        const domains = admission.domains.map((domain) => ({ ...domain, cap: 1_000 }));
        return store.admit({ ...admission, domains }, fence);
      },
    }),
  },
  windowIgnored: {
    firstSeed: 2,
    store: (store) => withPolicy(store, (policy) => ({ ...policy, windows: [], freezes: [] })),
  },
  paceForgotten: {
    firstSeed: 14,
    foundBy: 'P7',
    needs: ['pace'],
    store: (store) => withView(store, (view) => ({ ...view, pacedForMs: 0 })),
  },
  waveCalendarIgnored: {
    firstSeed: 3,
    foundBy: 'P7',
    needs: ['ownCalendar'],
    store: (store) => withWaves(store, ({ windows: _windows, notBefore: _notBefore, ...wave }) => wave),
  },
  heldCollectorStarted: {
    firstSeed: 200,
    register: (register, context) =>
      context === 'operator'
        ? register
        : {
            ...register,
            holds: async () => ({ ...(await register.holds()), collectors: [] }),
            holdsOf: async () => [],
          },
    in: 'operator',
    store: (store) => ({
      ...store,
      saveUpgrades: async (id, changes, guard) => {
        const [first] = changes;
        return first?.after.progress.state === 'withdrawn'
          ? [first.after.identity.collectorId]
          : store.saveUpgrades(id, changes, guard);
      },
    }),
  },
  groupEndsWithRollout: {
    firstSeed: 703,
    register: (register, context) =>
      context === 'operator'
        ? register
        : { ...register, holds: async () => ({ ...(await register.holds()), groups: [] }) },
  },
  driftApproved: {
    firstSeed: 16,
    // The plan seems to have been made, and shown with its drift, this very moment.
    in: 'operator',
    store: (store) => ({
      ...store,
      loadRollout: changed(store.loadRollout, (rollout) => ({
        ...rollout,
        plan: {
          ...rollout.plan,
          drift: { from: '', joined: 0, left: 0, change: { target: null, joined: [], left: [] } },
          fleetReadAt: Number.POSITIVE_INFINITY,
        },
      })),
    }),
  },
  soakSkipped: { firstSeed: 2, store: (store) => withWaves(store, (wave) => ({ ...wave, soakMs: 0 })) },
  isolationForgotten: {
    firstSeed: 51,
    store: (store) =>
      withRollout(
        store,
        (rollout) => withHeld(rollout, []),
        (seen, { strata }) => withHeld(seen, seen.strata.held.length === 0 ? strata.held : seen.strata.held),
      ),
  },
  gateUnasked: { firstSeed: 7, store: (store) => withWaves(store, (wave) => ({ ...wave, gates: [] })) },
  targetMoved: {
    firstSeed: 1,
    store: (store) => ({
      ...store,
      freeze: ({ upgrades: [first, ...others], ...plan }) => {
        const moved = first && { ...first, identity: { ...first.identity, toBuild: '19.506-1' } };
        return store.freeze({ ...plan, upgrades: moved === undefined ? others : [moved, ...others] });
      },
    }),
  },
  toldNotSeen: {
    firstSeed: 38,
    fleet: (fleet) => ({
      ...fleet,
      pollCollector: async (look, signal) => {
        const answer = await fleet.pollCollector(look, signal);
        if (!answer.ok || look.upgradableTo !== null || !look.urgent) return answer;
        const soon = (answer.value.serviceAt ?? 0) + 1;
        return { ok: true, value: { ...answer.value, alive: true, lastSeenAlive: soon } };
      },
    }),
  },
  rowEndsUpgrade: {
    firstSeed: 1,
    // What stirs is taken for what has ended well.
    in: 'watch',
    store: (store) => ({
      ...store,
      saveUpgrades: (id, changes, guard) => {
        const wrong = changes.map((change) => {
          const { before, after } = change;
          const isStirred =
            before.progress.state === 'upgrading' &&
            after.progress.state === 'upgrading' &&
            after.progress.dueAt < before.progress.dueAt;
          if (!isStirred) return change;
          const reason = { kind: 'returned', late: false } as const;
          return { ...change, after: endUpgrade(before, 'succeeded', after.progress.dueAt, reason) };
        });
        return store.saveUpgrades(id, wrong, guard);
      },
    }),
  },
  lostUpgradeNotWaitedFor: {
    firstSeed: 4069,
    fleet: (fleet) => ({
      ...fleet,
      readFleet: async (build, signal) => {
        const answer = await fleet.readFleet(build, signal);
        if (!answer.ok) return answer;
        // As if each had been heard from at that very moment.
        const lastSeenAlive = answer.value.serviceAt ?? undefined;
        const collectors = answer.value.collectors.map((collector) => ({ ...collector, lastSeenAlive }));
        return { ok: true, value: { ...answer.value, collectors, offeredAt: null } };
      },
    }),
  },
  // As if the inventory said who is in no upgrade.
  anyRowOffers: {
    firstSeed: 12,
    fleet: (fleet) => ({
      ...fleet,
      readUpgradable: async (_build, onPage, signal) => {
        const answer = await fleet.readInventory(onPage, signal);
        return answer.ok ? { ok: true, value: { pages: 1, isInOrder: true } } : answer;
      },
      pollCollector: async (poll, signal) => {
        const answer = await fleet.pollCollector({ ...poll, upgradableTo: null }, signal);
        if (!answer.ok || poll.upgradableTo === null) return answer;
        const { alive, serviceAt } = answer.value;
        const offered = alive && serviceAt !== null ? { offeredAt: serviceAt } : {};
        return { ok: true, value: { ...answer.value, upgradable: alive, ...offered } };
      },
    }),
  },
  /** See `makeDaemonModel`, as for the others without a change here. */
  storeTrustedBlindly: { firstSeed: 124 },
  deferredGivenUp: {
    firstSeed: 44,
    in: 'lead',
    store: (store) =>
      withView(store, (view) => ({
        ...view,
        waves: view.waves.map((wave) => {
          const { deferred, withdrawn } = wave.counts;
          return { ...wave, counts: { ...wave.counts, deferred: 0, withdrawn: withdrawn + deferred } };
        }),
      })),
  },
  evidenceHoldStays: {
    firstSeed: 2799,
    in: 'lead',
    store: (store) =>
      withView(store, ({ rollout, ...view }) => ({
        ...view,
        rollout: { ...rollout, hold: rollout.hold && { number: rollout.hold.number } },
      })),
  },
  accountIgnored: { firstSeed: 36 },
  refusalBelieved: {
    firstSeed: 23,
    // A refusal is never settled by a poll: what a person did in between is taken for the collector's fault.
    fleet: (fleet) =>
      sending(fleet, async (send) => {
        const answer = await send();
        if (answer.ok || answer.failure.kind !== 'refused') return answer;
        const isVersion = answer.failure.code === 'collector.version.invalid';
        const failure = { ...answer.failure, code: 'collector.type.invalid' };
        return isVersion ? { ok: false, failure } : answer;
      }),
  },
  olderConfigScans: { firstSeed: 200 },
  joinerByOwnConfig: {
    firstSeed: 17,
    in: 'scan',
    store: (store) =>
      withPolicy(store, (policy) => ({ ...policy, select: { ...policy.select, exclude: [] } })),
  },
  dateBelieved: { firstSeed: 605 },
  missingTakenForWell: { firstSeed: 100, in: 'lead', fleet: takingMissingForWell },
  anyListBelieved: {
    firstSeed: 275,
    // No member is ever missing, and no list is shorter than the one before.
    store: (store) => ({
      ...withRollout(
        store,
        (rollout) => ({ ...rollout, inventory: { ...rollout.inventory, baseline: null } }),
        (seen) => seen,
      ),
      listMemberIds: async () => [],
    }),
  },
  notFoundBelieved: { firstSeed: 25, in: 'step', fleet: believingNotFound },
  rollbackNotPolled: {
    firstSeed: 77,
    in: 'lead',
    fleet: (fleet) => ({ ...fleet, findCollector: async () => ({ ok: true, value: undefined }) }),
  },
  olderBrakesReturn: {
    firstSeed: 5,
    needs: ['reload'],
    configs: (configs) => ({
      ...configs,
      versionOf: () => ({ generation: Number.MAX_SAFE_INTEGER, isReinstated: true }),
    }),
  },
  doubtForgotten: {
    firstSeed: 161,
    foundBy: 'P2',
    most: ['listsRunning', 'createAnswerLost', 'readFails', 'pollsFail'],
    // A create whose answer was lost seems to have been settled by the list that shows its collector.
    in: 'step',
    store: (store) => ({
      ...store,
      loadUpgrades: async (id, ids) => {
        const read = await store.loadUpgrades(id, ids);
        const settled = ({ tally: { inDoubtUntil: _forgotten, ...tally }, ...upgrade }: Upgrade) => ({
          ...upgrade,
          tally,
        });
        return { ...read, upgrades: read.upgrades.map(settled) };
      },
    }),
  },
  turnKept: {
    firstSeed: 139,
    needs: ['reload'],
    // A turn that was given by former brakes is as good as any.
    in: 'step',
    store: (store) => ({
      ...store,
      loadUpgrades: async (id, ids) => {
        const [read, rollout] = [await store.loadUpgrades(id, ids), await store.loadRollout(id)];
        const turnChanges = rollout?.config.changes ?? 0;
        const renewed = ({ tally, ...upgrade }: Upgrade) => ({
          ...upgrade,
          tally: { ...tally, turnChanges },
        });
        return { ...read, upgrades: read.upgrades.map(renewed) };
      },
    }),
  },
  anyApprovalTaken: {
    firstSeed: 7,
    // Whatever an approval names, what waits by now is approved.
    verb: (request, rollout) => {
      if (request.verb !== 'approve') return request;
      const { rolloutId, by, reason } = request;
      const waits = rollout.waves.find(({ state }) => state === 'awaitingApproval');
      return rollout.state !== 'awaitingApproval' && waits !== undefined
        ? { verb: 'approve', wave: waits.name, rolloutId, by, reason }
        : { verb: 'approve', planHash: rollout.plan.hash, rolloutId, by, reason };
    },
  },
  rollbackAtOnce: {
    firstSeed: 21,
    // The canary of a rollback seems to have passed as soon as it is open.
    in: 'lead',
    store: (store) =>
      withRollout(
        store,
        (rollout) => withRollbackCanary(rollout, ['open', 'soaking'], 'passed'),
        (seen, truth) => withRollbackCanary(seen, ['passed'], truth.waves[0]?.state ?? 'passed'),
      ),
  },
  silenceUnnoticed: {
    firstSeed: 14,
    // What a wave delivers by now seems to be what it delivered before.
    gates: ({ ask }) => ({
      ask: async (question, signal) => {
        const answer = await ask(question, signal);
        return answer.kind === 'counts' ? { ...answer, after: answer.before } : answer;
      },
    }),
  },
  failedSearchPasses: {
    firstSeed: 14,
    // A search that could not be made, or not to its end, has found nothing bad.
    gates: ({ ask }) => ({
      ask: async (question, signal) => {
        const answer = await ask(question, signal);
        const isSearch = isSearchGate(question.gate);
        return answer.kind === 'error' && isSearch ? { kind: 'value', value: 1, detail: '' } : answer;
      },
    }),
  },
  groupForgotten: {
    firstSeed: 51,
    // Who belongs to a held group is not asked when creates are given out.
    in: 'lead',
    store: (store) =>
      withRollout(
        store,
        (rollout) =>
          withHeld(
            rollout,
            rollout.strata.held.filter(({ attributes }) => attributes === undefined),
          ),
        (seen, { strata }) =>
          withHeld(seen, [
            ...seen.strata.held,
            ...strata.held.filter(
              ({ label, attributes }) =>
                attributes !== undefined && !seen.strata.held.some((each) => each.label === label),
            ),
          ]),
      ),
  },
  putBackWithoutWait: {
    firstSeed: 1,
    foundBy: 'progress',
    // Every turn seems to have been given under former limits, and whoever is put back gets the next one at once.
    in: 'step',
    store: (store) => ({
      ...store,
      loadRollout: changed(store.loadRollout, ({ config, ...rollout }) => ({
        ...rollout,
        config: { ...config, changes: config.changes + 1 },
      })),
      saveUpgrades: (id, changes, guard) => {
        const unpaused = changes.map((change) => ({ ...change, after: withoutWait(change.after) }));
        return store.saveUpgrades(id, unpaused, guard);
      },
    }),
  },
  statusMiscounts: {
    firstSeed: 1,
    foundBy: 'P16',
    // Who has failed seems to have succeeded.
    in: 'status',
    store: (store) =>
      withView(store, (view) => ({
        ...view,
        waves: view.waves.map((wave) => {
          const { failed, succeeded } = wave.counts;
          return { ...wave, counts: { ...wave.counts, failed: 0, succeeded: succeeded + failed } };
        }),
      })),
  },
  waitsForNothing: {
    firstSeed: 1,
    foundBy: 'P16',
    // Nobody seems to wait for a turn.
    in: ['lead', 'status'],
    store: (store) => withView(store, (view) => ({ ...view, candidates: [] })),
  },
  spinningLeader: {
    firstSeed: 1,
    foundBy: 'progress',
    // What a rollout waits for is always over at once.
    in: 'lead',
    store: (store) => withView(store, (view) => ({ ...view, nextRetryAt: 0 })),
  },
  clocksTrusted: { firstSeed: 418, needs: ['clockWrong'] },
  orphansForgotten: { firstSeed: 17, needs: ['policyRemoved', 'policyRenamed'] },
  missingPolicyUpgrades: {
    firstSeed: 17,
    needs: ['policyRemoved', 'policyRenamed'],
    claims: (claims) => ({ ...claims, isMissing: () => false }),
  },
  claimsIgnored: {
    firstSeed: 17,
    needs: ['policyRemoved', 'policyRenamed'],
    claims: (claims) => ({ ...claims, names: async () => [] }),
  },
  incidentsByName: {
    firstSeed: 5,
    needs: ['notices'],
    // What comes again has the id of the first time.
    outbox: withMessages((messages) =>
      messages.map(({ receiver, notice }) => ({
        receiver,
        notice: { ...notice, id: notice.id.replace(/\/\d+\/(raised|over)$/, '/$1') },
      })),
    ),
  },
  noticesUnmarked: {
    firstSeed: 203,
    needs: ['notices'],
    outbox: (outbox) => ({
      ...outbox,
      write: async (of, _mark, messages) => {
        const { rollouts, policies } = await outbox.readAnnounced(0);
        const before = 'rollout' in of ? rollouts.get(of.rollout) : policies.get(of.policy);
        return outbox.write(of, before?.mark ?? null, messages);
      },
    }),
  },
  noticesNewestFirst: {
    firstSeed: 3,
    needs: ['notices'],
    outbox: (outbox) => ({ ...outbox, read: async (of) => (await outbox.read(of)).toReversed() }),
  },
  threadsUnsaved: {
    firstSeed: 3,
    needs: ['notices'],
    outbox: (outbox) => ({ ...outbox, saveThread: async () => undefined }),
  },
  noticesLost: {
    firstSeed: 3,
    needs: ['notices'],
    outbox: withMessages((messages) => messages.slice(0, 1)),
  },
  joinersUntried: {
    firstSeed: 160,
    foundBy: 'P3',
    in: 'scan',
    // A plan seems to have every stratum, so late joiners of a new one enter the last wave without a canary.
    store: (store) => ({
      ...store,
      loadGroups: async (id) => {
        const groups = await store.loadGroups(id);
        if (groups === undefined) return undefined;
        const isNew = (label: string) => groups.strata.every((stratum) => stratum.label !== label);
        const sizes = groups.strata[0]?.sizes.map(() => 1) ?? [];
        const others = systemNames.filter(isNew).map((label) => ({ label, sizes }));
        return { ...groups, strata: [...groups.strata, ...others] };
      },
    }),
  },
  groupsUntried: {
    firstSeed: 180,
    foundBy: 'P3',
    needs: ['history'],
    // Ended rollouts seem to have left no groups, so that a first wave may have none of those that failed.
    history: ({ read }) => ({
      read: async (limit) => (await read(limit)).map((record) => ({ ...record, groups: [] })),
    }),
  },
  // The need for a start is ignored: the schedule starts a policy whose stopped rollout was lost.
  needIgnored: { firstSeed: 7, foundBy: 'P4', most: ['storeEmptied'] },
  takenTooEasily: {
    firstSeed: 75,
    foundBy: 'P4',
    needs: ['takeovers'],
    // While collectors are moved to a held group, no stratum seems to have failures.
    in: 'lead',
    store: (store) =>
      withStrataWhileMoved(store, ({ strata }) => strata.map((each) => ({ ...each, failed: 0 }))),
  },
  takenStaysHeld: {
    firstSeed: 76,
    foundBy: 'P11',
    needs: ['takeovers'],
    // While collectors are moved to a held group, each held stratum seems to keep a failure.
    in: 'lead',
    store: (store) =>
      withStrataWhileMoved(store, ({ strata, rollout }) => [
        ...strata,
        ...rollout.strata.held.map(({ stratum }) => {
          const none = { waiting: 0, active: 0, succeeded: 0 };
          return { ...none, stratum, wave: 0, failed: 1, weight: 1 };
        }),
      ]),
  },
  runningListedEnds: {
    firstSeed: 329,
    in: 'step',
    // Every list seems to have left an adopted one out.
    store: (store) => ({
      ...store,
      loadUpgrades: async (...of) => {
        const loaded = await store.loadUpgrades(...of);
        return { ...loaded, upgrades: loaded.upgrades.map(asLeftOut) };
      },
    }),
  },
  retriesByLane: {
    firstSeed: 12,
    needs: ['reload'],
    // A retry that moves to another lane leaves a member under its former one, which is admitted and put back for ever.
    script: (lua) => lua.replace("redis.call('ZREM', retriesKey, id .. ':' .. formerLane)", ''),
  },
} satisfies Readonly<Record<string, Plant>>;

export type PlantedBug = keyof typeof plants;
export const plantedBugs = Object.keys(plants) as readonly PlantedBug[];
export const whereFound: Readonly<Record<PlantedBug, Plant>> = plants;

/** Nights on the model of the store find it. */
export function isFoundInMemory(bug: PlantedBug): boolean {
  return scriptChangeOf(bug) === undefined;
}

/** What the bug changes in the sources of scripts. */
export function scriptChangeOf(bug: PlantedBug | null): Plant['script'] {
  return bug === null ? undefined : whereFound[bug].script;
}

/** What one part of a daemon works with when the daemon has this bug. */
export function planted<Parts extends { store: RolloutStore; register: FleetRegister; fleet?: FleetService }>(
  bug: PlantedBug | null,
  context: PlantContext,
  parts: Parts,
): Parts {
  const plant: Partial<Plant> = bug === null ? {} : plants[bug];
  const isHere = plant.in === undefined ? context !== 'status' : [plant.in].flat().includes(context);
  const { store, register, fleet } = parts;
  return {
    ...parts,
    store: (isHere && plant.store?.(store)) || store,
    register: (context !== 'status' && plant.register?.(register, context)) || register,
    ...(fleet !== undefined && { fleet: (isHere && plant.fleet?.(fleet)) || fleet }),
  };
}

export function plantInVerb(bug: PlantedBug | null, request: VerbRequest, rollout?: Rollout): VerbRequest {
  const plant: Partial<Plant> = bug === null ? {} : plants[bug];
  return (rollout && plant.verb?.(request, rollout)) ?? request;
}

export function plantInGates(bug: PlantedBug | null, gates: GateProbe): GateProbe {
  const plant: Partial<Plant> = bug === null ? {} : plants[bug];
  return plant.gates?.(gates) ?? gates;
}

export function plantInClaims(bug: PlantedBug | null, claims: PolicyClaims): PolicyClaims {
  const plant: Partial<Plant> = bug === null ? {} : plants[bug];
  return plant.claims?.(claims) ?? claims;
}

export function plantInOutbox(bug: PlantedBug | null, outbox: Outbox): Outbox {
  const plant: Partial<Plant> = bug === null ? {} : plants[bug];
  return plant.outbox?.(outbox) ?? outbox;
}

export function plantInHistory<History extends Pick<BuildHistory, 'read'>>(
  bug: PlantedBug | null,
  history: History,
): History {
  const plant: Partial<Plant> = bug === null ? {} : plants[bug];
  return { ...history, ...plant.history?.(history) };
}

export function plantInConfigs(bug: PlantedBug | null, configs: Configs): Configs {
  const plant: Partial<Plant> = bug === null ? {} : plants[bug];
  return plant.configs?.(configs) ?? configs;
}

function withoutWait(upgrade: Upgrade): Upgrade {
  const { progress, tally } = upgrade;
  const isPutBack = progress.state === 'retrying' && tally.putBacks !== undefined;
  return isPutBack ? { ...upgrade, progress: { ...progress, dueAt: 0 } } : upgrade;
}

/** An outbox that gets other messages. */
function withMessages(change: (messages: Parameters<Outbox['write']>[2]) => Parameters<Outbox['write']>[2]) {
  return (outbox: Outbox): Outbox => ({
    ...outbox,
    write: (of, mark, messages) => outbox.write(of, mark, change(messages)),
  });
}

function asLeftOut(upgrade: Upgrade): Upgrade {
  const { progress } = upgrade;
  if (progress.state !== 'upgrading' || progress.taskId !== null) return upgrade;
  return { ...upgrade, progress: { unchangedAt: progress.startedAt, ...progress } };
}

const oneMore = (brakeAbove: number | null) => (brakeAbove === null ? null : brakeAbove + 1);

function withRollbackCanary(rollout: Rollout, from: readonly WaveState[], to: WaveState): Rollout {
  const [canary, ...rest] = rollout.waves;
  if (rollout.kind !== 'rollback' || canary === undefined || !from.includes(canary.state)) return rollout;
  return { ...rollout, waves: [{ ...canary, state: to }, ...rest] };
}

/** Creates that are sent in another way. */
function sending(
  fleet: FleetService,
  sends: (
    send: ReservedCreate['send'],
    again: () => Promise<Answer<ReservedCreate>>,
  ) => ReturnType<ReservedCreate['send']>,
): FleetService {
  return {
    ...fleet,
    reserveCreate: async (task, signal) => {
      const again = () => fleet.reserveCreate(task, signal);
      const reserved = await again();
      if (!reserved.ok) return reserved;
      return { ok: true, value: { ...reserved.value, send: () => sends(reserved.value.send, again) } };
    },
  };
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

/** A call whose result, where there is one, is changed. */
function changed<Args extends readonly unknown[], Result>(
  load: (...args: Args) => Promise<Result | undefined>,
  change: (result: Result) => Result,
) {
  return async (...args: Args): Promise<Result | undefined> => {
    const result = await load(...args);
    return result === undefined ? undefined : change(result);
  };
}

function withHeld(rollout: Rollout, held: Rollout['strata']['held']): Rollout {
  return { ...rollout, strata: { ...rollout.strata, held } };
}

function withView(store: RolloutStore, change: (view: StoredView) => StoredView): RolloutStore {
  return { ...store, loadView: changed(store.loadView, change) };
}

/** A store that shows other strata while a held group does not have all of its collectors. */
function withStrataWhileMoved(
  store: RolloutStore,
  strataOf: (view: StoredView) => StoredView['strata'],
): RolloutStore {
  return withView(store, (view) => {
    const isMoving = view.rollout.strata.held.some(({ unmoved }) => unmoved === true);
    return isMoving ? { ...view, strata: strataOf(view) } : view;
  });
}

function withWaves(store: RolloutStore, change: (wave: WaveRule) => WaveRule): RolloutStore {
  return withPolicy(store, (policy) => ({ ...policy, waves: policy.waves.map(change) }));
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
  const written = async (rollout: Rollout) => {
    const truth = await store.loadRollout(rollout.id);
    return truth === undefined ? rollout : restore(rollout, truth);
  };
  return {
    ...withView(store, (view) => ({ ...view, rollout: show(view.rollout) })),
    loadRollout: changed(store.loadRollout, show),
    join: async (plan, rev, fence) =>
      store.join({ ...plan, rollout: await written(plan.rollout) }, rev, fence),
    saveRollout: async (change, fence) =>
      store.saveRollout({ ...change, rollout: await written(change.rollout) }, fence),
  };
}
