import { describe, expect, it } from 'vitest';
import { type Configs, makeConfigs } from '../../../../src/orchestrator/configs/configs.ts';
import { followConfigs } from '../../../../src/orchestrator/configs/follow-configs.ts';
import { reconcile } from '../../../../src/orchestrator/lead/reconcile.ts';
import type { LivingDaemons } from '../../../../src/orchestrator/ports/config-register.ts';
import { runStep } from '../../../../src/orchestrator/step/run-step.ts';
import type { AccountStatus } from '../../../../src/rollout/model/account.ts';
import type { Policy } from '../../../../src/rollout/model/policy.ts';
import type { UpgradeState } from '../../../../src/rollout/model/upgrade.ts';
import type { LivingDaemon, PolicyConfig } from '../../../../src/rollout/reload/newest-config.ts';
import { reserving } from '../../../support/builders/service-builders.ts';
import { aPolicy, aRollout, aWave, startedAt } from '../../../support/builders.ts';
import { aHouse } from '../../../support/house.ts';
import { quietLead, quietParts } from '../../../support/quiet-parts.ts';
import { pendingOnes } from '../../../support/store/store-changes.ts';

const old = aPolicy({ concurrency: 4 });
const freezes = [{ from: '2020-01-01T00:00', to: '2030-01-01T00:00', reason: 'audit', timeZone: 'UTC' }];
const frozen = aPolicy({ concurrency: 1, freezes });
const named = (hash: string, generation: number): PolicyConfig => ({ policy: old.name, hash, generation });
const [older, newer] = [named('aaaa', 1), named('bbbb', 2)];
const daemonWith = (config: PolicyConfig, beatAt = startedAt): LivingDaemon => ({
  followsSchedule: true,
  account: 'a',
  beatAt,
  configs: [config],
});
const ours: AccountStatus = { kind: 'own' };

/** A store with a rollout of six, and any number of daemons. */
async function setUp() {
  const tasks: number[] = [];
  const rollout = aRollout({
    policy: old,
    config: { generation: 1, changes: 0 },
    waves: [aWave({ state: 'open', openedAt: startedAt, size: 6 })],
  });
  const house = await aHouse({
    rollout,
    upgrades: pendingOnes(6),
    fleet: {
      reserveCreate: reserving(async ({ collectorId }) => {
        tasks.push(collectorId);
        return { ok: true, value: { taskId: `task-${collectorId}` } };
      }),
    },
  });
  const { store, clock } = house;
  const events: string[] = [];
  const report = ({ event, by }: { event: string; by: string }) => void events.push(`${event} ${by}`);
  const parts = { ...house.parts, sink: { ...quietParts.sink, report } };
  /** One with this config, beside others that live. */
  const aDaemon = (own: PolicyConfig, others: readonly LivingDaemon[] = [], followsSchedule = true) => {
    const living = { own: [own], others };
    const beat = async () => ({ account: 'a', beatAt: clock.at, ...living });
    const register = { beat, replace: () => undefined };
    return Object.assign(makeConfigs({ ...quietParts, register, clock, followsSchedule }), { living });
  };
  const follow = (configs: Configs, policy: Policy, by = 'daemon', account = ours, own = store) => {
    const accounts = { statusOf: async () => account };
    return followConfigs({ ...parts, store: own, accounts, configs, rollouts: () => [policy] }, by);
  };
  const beat = async (configs: Configs, policy: Policy, by = 'daemon', account = ours) => {
    await configs.beat();
    return follow(configs, policy, by, account);
  };
  const listed = (state: UpgradeState) => store.listUpgrades(rollout.id, { offset: 0, limit: 10, state });
  return {
    ...{ clock, store, parts, events, tasks, aDaemon, beat, follow },
    now: house.now,
    brakes: async () => (await house.now()).policy.freezes,
    /** Another daemon begins with the frozen config. */
    freezeByAnother: () => beat(aDaemon(newer), frozen),
    lead: () => reconcile({ ...parts, ...quietLead }, rollout.id, 1, 0),
    queued: async () => (await listed('queued')).length,
    runSteps: async () => {
      for (const { identity } of await listed('queued')) {
        const of = { rolloutId: rollout.id, collectorId: identity.collectorId };
        await runStep(parts, of, new AbortController().signal);
      }
    },
  };
}

const followedBoth = [{ followed: [{ key: 'concurrency' }, { key: 'freezes' }] }];

describe('a config that is reloaded, or comes with a restart', () => {
  it("is stored in the rollout's record, with who changed it", async () => {
    const { aDaemon, beat, now, events } = await setUp();
    const daemon = aDaemon(newer);
    expect(await beat(daemon, frozen, 'ann')).toMatchObject(followedBoth);
    expect(await now()).toMatchObject({
      policy: { concurrency: 1, freezes },
      config: { generation: 2, changes: 1 },
    });
    expect(events).toEqual(['rollout.policyChanged ann']);
    expect(await beat(daemon, frozen)).toMatchObject([{ followed: [] }]);
  });

  it.each([
    ['calendar', frozen],
    ['limits', aPolicy({ concurrency: 1 })],
  ])('shows in its event whether windows or freezes changed: %s', async (reasonKind, policy) => {
    const { aDaemon, beat, now, store } = await setUp();
    await beat(aDaemon(newer), policy, 'ann');
    expect(await store.readEvents((await now()).id, { limit: 1 })).toMatchObject([{ reasonKind }]);
  });

  it('withdraws turns that it would not give: nothing starts until fewer upgrades run than it allows (P2, P7)', async () => {
    const { aDaemon, beat, lead, runSteps, queued, tasks } = await setUp();
    await lead();
    expect(await queued()).toBe(4);
    const daemon = aDaemon(newer);
    await beat(daemon, aPolicy({ concurrency: 1 }), 'ann');
    // The brake that the change has set is lifted again.
    await lead();
    await runSteps();
    expect(tasks).toEqual([]);
    expect(await queued()).toBe(0);
    await lead();
    expect(await queued()).toBe(1);
    await runSteps();
    expect(tasks).toHaveLength(1);
    await beat(daemon, frozen);
    await lead();
    await runSteps();
    expect(tasks).toHaveLength(1);
  });

  it('is not reverted by a daemon with the older config that outlives the newer daemon', async () => {
    const { clock, aDaemon, beat, brakes } = await setUp();
    const elder = aDaemon(older);
    await beat(elder, old);
    // However soon: it may be killed right after its start.
    clock.at += 1;
    elder.living.others = [daemonWith(newer, clock.at)];
    await beat(aDaemon(newer, [daemonWith(older)]), frozen);
    await beat(elder, old);
    // Killed: nobody has the newer config now.
    elder.living.others = [];
    await beat(elder, old);
    expect(await brakes()).toEqual(freezes);
  });

  it.each([
    ['that was suspended between its heartbeat and the write that follows', 150_000],
    ['whose heartbeat was just before the newer config arrived', 0],
  ])('is not reverted by a daemon %s (P4)', async (_which, suspendedMs) => {
    const { clock, aDaemon, beat, follow, freezeByAnother, brakes } = await setUp();
    const elder = aDaemon(older);
    await beat(elder, old);
    clock.at += suspendedMs;
    elder.living.others = [daemonWith(newer)];
    await freezeByAnother();
    await follow(elder, old);
    expect(await brakes()).toEqual(freezes);
  });

  it('is not reverted by a daemon that checked right before it arrived and writes right after (P4)', async () => {
    const { aDaemon, follow, freezeByAnother, brakes } = await setUp();
    const elder = aDaemon(older);
    await elder.beat();
    const late: Configs = {
      ...elder,
      beat: async () => {
        await elder.beat();
        elder.living.others = [daemonWith(newer)];
        await freezeByAnother();
      },
    };
    await follow(late, aPolicy({ concurrency: 3 }));
    expect(await brakes()).toEqual(freezes);
  });

  it('is not reverted by a pass that its own daemon began with the config before (P4)', async () => {
    const { parts, aDaemon, follow, brakes } = await setUp();
    const own = { ...older };
    const daemon = aDaemon(own);
    await daemon.beat();
    let config = old;
    let goOn = (): void => undefined;
    const isSlow = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const activeRolloutIds: typeof parts.store.activeRolloutIds = async (policies) => {
      await isSlow;
      return parts.store.activeRolloutIds(policies);
    };
    const store = { ...parts.store, activeRolloutIds };
    const begun = followConfigs({ ...parts, store, configs: daemon, rollouts: () => [config] }, 'daemon');
    Object.assign(own, newer);
    config = frozen;
    daemon.replace([newer]);
    await daemon.beat();
    await follow(daemon, frozen, 'ann');
    goOn();
    await begun;
    expect(await brakes()).toEqual(freezes);
  });

  it('is in force when the answer says so, however long the daemon was suspended meanwhile (P4)', async () => {
    const { clock, store, aDaemon, follow, brakes } = await setUp();
    const daemon = aDaemon(newer);
    await daemon.beat();
    let suspensions = 2;
    const suspended: typeof store = {
      ...store,
      loadRollout: async (id) => {
        if (suspensions > 0) clock.at += 60_000;
        suspensions -= 1;
        return store.loadRollout(id);
      },
      loadView: async (id, at) => {
        if (suspensions > 0) clock.at += 60_000;
        return store.loadView(id, at);
      },
    };
    expect(await follow(daemon, frozen, 'ann', ours, suspended)).toMatchObject(followedBoth);
    expect(await brakes()).toEqual(freezes);
  });

  it('is judged only by its own heartbeats, and not by one of the config before', async () => {
    let answer = (_living: LivingDaemons): void => undefined;
    const beat = () =>
      new Promise<LivingDaemons>((resolve) => {
        answer = resolve;
      });
    const configs = makeConfigs({ ...quietParts, register: { beat, replace: () => undefined } });
    const livingWith = (own: PolicyConfig) => ({ own: [own], account: 'a', beatAt: startedAt, others: [] });
    const begun = configs.beat();
    configs.replace([newer]);
    answer(livingWith(older));
    await begun;
    expect(configs.versionOf(old.name)).toBeUndefined();
    const next = configs.beat();
    answer(livingWith(newer));
    await next;
    expect(configs.versionOf(old.name)).toMatchObject({ generation: 2 });
  });

  it('is reported once when it differs outside of the policies, and once when it agrees again', async () => {
    const notes: Array<{ readonly event: string }> = [];
    const sink = { ...quietParts.sink, note: (note: { readonly event: string }) => void notes.push(note) };
    let theirs = 'other';
    const settings = (hash: string) => [{ key: 'notify', hash }];
    const beat = async (): Promise<LivingDaemons> => ({
      ...{ own: [], account: 'a', beatAt: startedAt, settings: settings('own') },
      others: [
        { followsSchedule: true, account: 'a', beatAt: startedAt, configs: [], settings: settings(theirs) },
      ],
    });
    const configs = makeConfigs({ ...quietParts, sink, register: { beat, replace: () => undefined } });
    await configs.beat();
    await configs.beat();
    expect(configs.settings()).toEqual({ keys: ['notify'], others: 1 });
    theirs = 'own';
    await configs.beat();
    await configs.beat();
    expect(notes.map(({ event }) => event)).toEqual(['config.settingsDiffer', 'config.settingsAgree']);
    expect(configs.settings()).toBeUndefined();
  });

  it('is the older one again when the daemons are restarted with the older one', async () => {
    const { clock, aDaemon, beat, freezeByAnother, brakes } = await setUp();
    await freezeByAnother();
    // The one that was killed is taken for living for ten seconds more.
    const restarted = aDaemon(older, [daemonWith(newer)]);
    await beat(restarted, old);
    expect(await brakes()).toEqual(freezes);
    clock.at += 9_000;
    restarted.living.others = [];
    await beat(restarted, old);
    expect(await brakes()).toEqual([]);
  });

  it('stays the newer one for a daemon that was suspended while the newer one came and went', async () => {
    const { clock, aDaemon, beat, freezeByAnother, brakes } = await setUp();
    const suspended = aDaemon(older);
    await beat(suspended, old);
    await freezeByAnother();
    clock.at += 150_000;
    await beat(suspended, old);
    expect(await brakes()).toEqual(freezes);
  });

  it('is the older one when a daemon reads it again right after a suspend (P4)', async () => {
    const { clock, aDaemon, beat, brakes } = await setUp();
    const daemon = aDaemon(newer);
    await beat(daemon, frozen);
    expect(await brakes()).toEqual(freezes);
    clock.at += 150_000;
    daemon.replace([older]);
    daemon.living.own = [older];
    await beat(daemon, old, 'ann');
    expect(await brakes()).toEqual([]);
  });

  it('does not apply to a rollout of another account, or of an account that is not known yet', async () => {
    const { aDaemon, beat, brakes } = await setUp();
    const daemon = aDaemon(newer);
    expect(await beat(daemon, frozen, 'daemon', { kind: 'unknown', reason: '' })).toEqual([]);
    expect(await brakes()).toEqual([]);
    await beat(daemon, frozen);
    expect(await brakes()).toEqual(freezes);
  });

  it('of `run --once` does not apply while a daemon is running', async () => {
    const { aDaemon, beat, brakes } = await setUp();
    await beat(aDaemon(newer, [daemonWith(older)], false), frozen);
    expect(await brakes()).toEqual([]);
  });
});
