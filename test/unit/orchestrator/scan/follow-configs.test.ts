import { describe, expect, it } from 'vitest';
import { reconcile } from '../../../../src/orchestrator/lead/reconcile.ts';
import type { LivingDaemons } from '../../../../src/orchestrator/ports/config-register.ts';
import { type Configs, followConfigs, makeConfigs } from '../../../../src/orchestrator/scan/configs.ts';
import { runStep } from '../../../../src/orchestrator/step/run-step.ts';
import type { AccountStatus } from '../../../../src/rollout/model/account.ts';
import type { Policy } from '../../../../src/rollout/model/policy.ts';
import type { UpgradeState } from '../../../../src/rollout/model/upgrade.ts';
import type { LivingDaemon, PolicyConfig } from '../../../../src/rollout/reload/newest-config.ts';
import {
  aFleetService,
  aPolicy,
  aRollout,
  aWave,
  reserving,
  someGroups,
  startedAt,
} from '../../../support/builders.ts';
import { lossless } from '../../../support/lossless.ts';
import { quietParts } from '../../../support/quiet-parts.ts';
import {
  makeMemoryFleetRegister,
  makeMemoryRolloutStore,
} from '../../../support/store/memory-rollout-store.ts';
import { pendingOnes } from '../../../support/store/store-changes.ts';

const old = aPolicy({ concurrency: 4 });
const frozen = aPolicy({
  concurrency: 1,
  freezes: [{ from: '2020-01-01T00:00', to: '2030-01-01T00:00', reason: 'audit', timeZone: 'UTC' }],
});
const named = (hash: string, generation: number): PolicyConfig => ({ policy: old.name, hash, generation });
const daemonWith = (config: PolicyConfig, beatAt = startedAt): LivingDaemon => ({
  followsSchedule: true,
  account: 'a',
  beatAt,
  configs: [config],
});

/** A store with a rollout of six, by a clock that the test moves, and any number of daemons. */
async function setUp() {
  const clock = { at: startedAt, now: () => clock.at };
  const store = makeMemoryRolloutStore(clock.now);
  const rollout = aRollout({
    policy: old,
    config: { generation: 1, changes: 0 },
    waves: [aWave({ state: 'open', openedAt: startedAt, size: 6 })],
  });
  await store.freeze({ rollout, upgrades: pendingOnes(6), groups: someGroups(), events: [] });
  const events: string[] = [];
  const tasks: number[] = [];
  const parts = {
    ...quietParts,
    clock,
    sink: {
      ...quietParts.sink,
      tell: ({ event, by }: { event: string; by: string }) => events.push(`${event} ${by}`),
    },
    store,
    register: makeMemoryFleetRegister(),
    fleet: aFleetService({
      reserveCreate: reserving(async ({ collectorId }) => {
        tasks.push(collectorId);
        return { ok: true, value: { taskId: `task-${collectorId}` } };
      }),
    }),
    queue: { deliver: async () => undefined, bringForward: async () => undefined },
    backgroundTasks: { run: async () => undefined },
    gates: { ask: async () => ({ ok: false, detail: '' }) },
  };
  /** What lives beside it is the test's to say. */
  const aDaemon = (own: PolicyConfig, others: () => readonly LivingDaemon[] = () => []) =>
    makeConfigs({
      register: {
        beat: async () => ({ own: [own], account: 'a', beatAt: clock.at, others: others() }),
        replace: () => undefined,
      },
      sink: quietParts.sink,
      clock,
    });
  const follow = (
    configs: Configs,
    policy: Policy,
    by = 'daemon',
    account: AccountStatus = { kind: 'own' },
  ) => {
    const accounts = { standingOf: async () => account };
    return followConfigs({ ...parts, accounts, configs, rollouts: [policy] }, by);
  };
  const beat = async (
    configs: Configs,
    policy: Policy,
    by = 'daemon',
    account: AccountStatus = { kind: 'own' },
  ) => {
    await configs.beat();
    return follow(configs, policy, by, account);
  };
  const lead = () => reconcile(parts as unknown as Parameters<typeof reconcile>[0], rollout.id, 1, 0);
  const countOf = async (state: UpgradeState) =>
    (await store.listUpgrades(rollout.id, { offset: 0, limit: 10, state })).length;
  const runSteps = async () => {
    for (const {
      identity: { collectorId },
    } of await store.listUpgrades(rollout.id, {
      offset: 0,
      limit: 10,
      state: 'queued',
    }))
      await runStep(parts, { rolloutId: rollout.id, collectorId }, new AbortController().signal);
  };
  const now = async () => lossless(await store.loadRollout(rollout.id));
  return { clock, store, parts, events, tasks, aDaemon, beat, follow, lead, runSteps, countOf, now };
}

describe('a config that was read anew, or came with a restart', () => {
  it('is in the record, for every daemon and every restart, with who changed it', async () => {
    const { aDaemon, beat, now, events } = await setUp();
    const daemon = aDaemon(named('bbbb', 2));
    expect(await beat(daemon, frozen, 'ann')).toMatchObject([
      { followed: [{ key: 'concurrency' }, { key: 'freezes' }] },
    ]);
    expect(await now()).toMatchObject({
      policy: { concurrency: 1, freezes: frozen.freezes },
      config: { generation: 2, changes: 1 },
    });
    expect(events).toEqual(['rollout.policyChanged ann']);
    expect(await beat(daemon, frozen)).toMatchObject([{ followed: [] }]);
  });

  it('takes turns back that it would not give: nothing starts until fewer run than it allows (P2, P7)', async () => {
    const { aDaemon, beat, lead, runSteps, countOf, tasks } = await setUp();
    await lead();
    expect(await countOf('queued')).toBe(4);
    const daemon = aDaemon(named('bbbb', 2));
    await beat(daemon, aPolicy({ concurrency: 1 }), 'ann');
    // The brake that the change has set is lifted again.
    await lead();
    await runSteps();
    expect(tasks).toEqual([]);
    expect(await countOf('queued')).toBe(0);
    await lead();
    expect(await countOf('queued')).toBe(1);
    await runSteps();
    expect(tasks).toHaveLength(1);
    await beat(daemon, frozen);
    await lead();
    await runSteps();
    expect(tasks).toHaveLength(1);
  });

  it('is not taken back by a daemon with the older one that outlives it', async () => {
    const { clock, aDaemon, beat, now } = await setUp();
    let others: readonly LivingDaemon[] = [];
    const elder = aDaemon(named('aaaa', 1), () => others);
    await beat(elder, old);
    // However soon: it may be killed right after its start.
    clock.at += 1;
    others = [daemonWith(named('bbbb', 2), clock.at)];
    await beat(
      aDaemon(named('bbbb', 2), () => [daemonWith(named('aaaa', 1))]),
      frozen,
    );
    await beat(elder, old);
    // Killed: nobody has the newer config now.
    others = [];
    await beat(elder, old);
    expect((await now()).policy.freezes).toEqual(frozen.freezes);
  });

  it('is not taken back by a daemon that was suspended between its beat and what it does by it (P4)', async () => {
    const { clock, aDaemon, beat, follow, now } = await setUp();
    let others: readonly LivingDaemon[] = [];
    const suspended = aDaemon(named('aaaa', 1), () => others);
    await beat(suspended, old);
    clock.at += 150_000;
    others = [daemonWith(named('bbbb', 2))];
    await beat(aDaemon(named('bbbb', 2)), frozen);
    await follow(suspended, old);
    expect((await now()).policy.freezes).toEqual(frozen.freezes);
  });

  it('is not taken back by a daemon whose beat was just before it came (P4)', async () => {
    const { aDaemon, beat, follow, now } = await setUp();
    let others: readonly LivingDaemon[] = [];
    const elder = aDaemon(named('aaaa', 1), () => others);
    await elder.beat();
    others = [daemonWith(named('bbbb', 2))];
    await beat(aDaemon(named('bbbb', 2)), frozen);
    await follow(elder, old);
    expect((await now()).policy.freezes).toEqual(frozen.freezes);
  });

  it('is not taken back by a daemon that asked right before it came, and wrote right after (P4)', async () => {
    const { aDaemon, beat, follow, now } = await setUp();
    let isLate = false;
    let others: readonly LivingDaemon[] = [];
    const elder = aDaemon(named('aaaa', 1), () => others);
    const late: Configs = {
      ...elder,
      beat: async () => {
        await elder.beat();
        if (!isLate) return;
        others = [daemonWith(named('bbbb', 2))];
        await beat(aDaemon(named('bbbb', 2)), frozen);
      },
    };
    await late.beat();
    isLate = true;
    await follow(late, aPolicy({ concurrency: 3 }));
    expect((await now()).policy.freezes).toEqual(frozen.freezes);
  });

  it('is not taken back by what its own daemon had begun before it read it (P4)', async () => {
    const { parts, aDaemon, follow, now } = await setUp();
    const own = { ...named('aaaa', 1) };
    const daemon = aDaemon(own);
    await daemon.beat();
    const rollouts = [old];
    let goOn = (): void => undefined;
    const isSlow = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const store: typeof parts.store = {
      ...parts.store,
      activeRolloutIds: async (policies) => {
        await isSlow;
        return parts.store.activeRolloutIds(policies);
      },
    };
    const begun = followConfigs({ ...parts, store, configs: daemon, rollouts }, 'daemon');
    Object.assign(own, named('bbbb', 2));
    rollouts.splice(0, 1, frozen);
    daemon.replace([named('bbbb', 2)]);
    await daemon.beat();
    await follow(daemon, frozen, 'ann');
    goOn();
    await begun;
    expect((await now()).policy.freezes).toEqual(frozen.freezes);
  });

  it('is in force when the answer says so, however long the daemon was suspended on the way (P4)', async () => {
    const { clock, parts, aDaemon, now } = await setUp();
    const daemon = aDaemon(named('bbbb', 2));
    await daemon.beat();
    let suspensions = 2;
    const store: typeof parts.store = {
      ...parts.store,
      loadRollout: async (id) => {
        if (suspensions > 0) clock.at += 60_000;
        suspensions -= 1;
        return parts.store.loadRollout(id);
      },
      loadView: async (id, at) => {
        if (suspensions > 0) clock.at += 60_000;
        return parts.store.loadView(id, at);
      },
    };
    const followed = await followConfigs({ ...parts, store, configs: daemon, rollouts: [frozen] }, 'ann');
    expect(followed).toMatchObject([{ followed: [{ key: 'concurrency' }, { key: 'freezes' }] }]);
    expect((await now()).policy.freezes).toEqual(frozen.freezes);
  });

  it('is judged by beats of its own alone: one of the config before says nothing of it', async () => {
    let answer = (_living: LivingDaemons): void => undefined;
    const configs = makeConfigs({
      register: {
        beat: () =>
          new Promise((resolve) => {
            answer = resolve;
          }),
        replace: () => undefined,
      },
      sink: quietParts.sink,
      clock: { now: () => startedAt },
    });
    const begun = configs.beat();
    configs.replace([named('bbbb', 2)]);
    answer({ own: [named('aaaa', 1)], account: 'a', beatAt: startedAt, others: [] });
    await begun;
    expect(configs.word(old.name)).toBeUndefined();
    const next = configs.beat();
    answer({ own: [named('bbbb', 2)], account: 'a', beatAt: startedAt, others: [] });
    await next;
    expect(configs.word(old.name)).toMatchObject({ generation: 2 });
  });

  it('is the older one again where the daemons are restarted with that', async () => {
    const { clock, aDaemon, beat, now } = await setUp();
    await beat(aDaemon(named('bbbb', 2)), frozen);
    // The one that was killed is taken for living for ten seconds more.
    let others: readonly LivingDaemon[] = [daemonWith(named('bbbb', 2))];
    const restarted = aDaemon(named('aaaa', 1), () => others);
    await beat(restarted, old);
    expect((await now()).policy.freezes).toEqual(frozen.freezes);
    clock.at += 11_000;
    others = [];
    await beat(restarted, old);
    expect((await now()).policy.freezes).toEqual([]);
  });

  it('says nothing about a rollout of another account, or of one that is not known yet', async () => {
    const { aDaemon, beat, now } = await setUp();
    const daemon = aDaemon(named('bbbb', 2));
    expect(await beat(daemon, frozen, 'daemon', { kind: 'unknown', reason: '' })).toEqual([]);
    expect((await now()).policy.freezes).toEqual([]);
    await beat(daemon, frozen);
    expect((await now()).policy.freezes).toEqual(frozen.freezes);
  });

  it('of `run --once` says nothing beside a daemon', async () => {
    const { clock, beat, now } = await setUp();
    const once = makeConfigs({
      register: {
        beat: async () => ({
          own: [named('bbbb', 2)],
          account: 'a',
          beatAt: clock.at,
          others: [daemonWith(named('aaaa', 1))],
        }),
        replace: () => undefined,
      },
      sink: quietParts.sink,
      clock,
      followsSchedule: false,
    });
    await beat(once, frozen);
    expect((await now()).policy.freezes).toEqual([]);
  });
});
