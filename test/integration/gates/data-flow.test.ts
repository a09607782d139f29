import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { runAtOnce } from '../../../src/base/steps.ts';
import { makeLogSearch } from '../../../src/collector-api/fleet/log-search.ts';
import { makeServiceClient } from '../../../src/collector-api/wire/service-client.ts';
import { loadConfig } from '../../../src/config/load/load-config.ts';
import { makeLocalApiBudget } from '../../../src/daemon/api-budgets.ts';
import { makeGateProbe } from '../../../src/gates/make-gate-probe.ts';
import { askGate } from '../../../src/orchestrator/lead/ask-gate.ts';
import type { ScenarioInput } from '../../../src/reference-service/scenario/scenario.ts';
import { tabulateAttributes } from '../../../src/rollout/model/attributes.ts';
import type { GateRule } from '../../../src/rollout/model/policy.ts';
import { findSharedAttribute } from '../../../src/rollout/status/shared-attribute.ts';
import { aDataFlowGate, aStatus } from '../../support/builders/gate-builders.ts';
import {
  aCollector,
  anUpgrade,
  aPolicy,
  aRollout,
  aSummary,
  aView,
  aWave,
  aWaveRule,
} from '../../support/builders.ts';
import { aHouse, over } from '../../support/house.ts';
import { openReferenceService } from '../../support/reference-client.ts';

const minute = 60_000;
// Of some 40.
const many = 25;

/**
 * A canary that was upgraded at a real service and has soaked, and a gate that searches what it delivers.
 * @param silent how many fall silent by it
 */
async function aSoakedCanary(gate: GateRule, silent: number, scenario: ScenarioInput = {}) {
  const { service, clock, create } = await openReferenceService({
    naturalFailures: { failed: 0, timeout: 0, lost: 0 },
    failures: silent === 0 ? [] : [{ match: { count: silent }, outcome: 'silent' }],
    ...scenario,
  });
  const client = makeServiceClient({
    baseUrl: service.baseUrl,
    ...{ accessId: 'anid', accessKey: 'akey', allowedHosts: [], requestTimeoutMs: 5_000 },
    ...{ budget: makeLocalApiBudget(10_000), clock, random: () => 0.5 },
  });
  onTestFinished(() => client.close());
  const toVersion = service.world.targetVersion(undefined);
  const wave = service.world.upgradableTo(toVersion).filter(({ facts }) => facts.osArch !== 'x86');
  const tasks = await Promise.all(wave.map(({ facts: { id } }) => create({ collectorId: id, toVersion })));
  expect(new Set(tasks.map(({ status }) => status))).toEqual(new Set([202]));
  const startedAt = clock.now();
  clock.advance(40 * minute);
  const upgrades = wave.map(({ facts: { id, name } }, index) =>
    anUpgrade(
      { ...over('succeeded'), endedAt: startedAt + 30 * minute },
      { collectorId: id, collectorName: name, order: index + 1, firstStartedAt: startedAt },
    ),
  );
  const rollout = aRollout({
    policy: aPolicy({ waves: [aWaveRule({ gates: [gate] })] }),
    waves: [aWave({ size: wave.length, state: 'soaking', soakEndsAt: clock.now(), gates: [aStatus()] })],
  });
  const collectors = wave.map(({ facts: { id, name } }) => aCollector({ id, name }));
  const { parts, store, now } = await aHouse({
    ...{ rollout, upgrades },
    fleet: {
      readInventory: async () => ({
        ok: true,
        value: { readAt: clock.now(), serviceAt: clock.now(), collectors },
      }),
    },
  });
  const sleep = async (durationMs: number) => clock.advance(durationMs);
  const gates = makeGateProbe({ clock, search: makeLogSearch({ client, clock, sleep }) });
  const view = aView({ rollout, waves: [aSummary({ succeeded: wave.length })] });
  await askGate({ ...parts, clock, gates }, view, { wave: 0, gate: 0 }, new AbortController().signal);
  const all = await store.listUpgrades(rollout.id, { offset: 0, limit: wave.length });
  return {
    wave,
    gate: (await now()).waves[0]?.gates[0],
    lost: all.filter(({ progress }) => progress.state !== 'succeeded'),
  };
}

describe('the data flow of a wave', () => {
  it('is met by collectors that deliver as much as the day before', async () => {
    const { gate, lost } = await aSoakedCanary(aDataFlowGate(), 0);
    expect(gate?.verdict).toBe('met');
    expect(gate?.value).toBeCloseTo(1, 1);
    expect(lost).toEqual([]);
  });

  it('counts each silent collector as lost, with the number of its earlier messages', async () => {
    const { gate, lost } = await aSoakedCanary(aDataFlowGate(), many);
    expect(gate).toMatchObject({ verdict: 'missed' });
    expect(gate?.value).toBeLessThan(0.7);
    // One in 20 had nothing to send before either.
    expect(lost.length).toBeGreaterThan(many / 2);
    for (const { progress } of lost)
      expect(progress).toMatchObject({
        state: 'unconfirmed',
        lost: true,
        reason: { kind: 'wentSilent', before: expect.any(Number) },
      });
  });

  it('decides nothing in a dry run, and shows its value', async () => {
    const { gate, lost } = await aSoakedCanary(aDataFlowGate({ dryRun: true }), many);
    expect(gate?.value).toBeLessThan(1);
    expect(lost).toEqual([]);
  });

  it('has no answer where the account has no search jobs, and says why (P14)', async () => {
    const { gate } = await aSoakedCanary(aDataFlowGate(), 0, { accounts: { main: { enterprise: false } } });
    expect(gate).toMatchObject({ verdict: 'error', detail: expect.stringContaining('Enterprise account') });
  });
});

describe('the example config/data-flow.yaml', () => {
  it('finds collectors that its scenario silences, and names their shared attribute', async () => {
    const folder = new URL('../../../config/', import.meta.url);
    const environment = { UPWAVE_ACCESS_ID: 'a', UPWAVE_ACCESS_KEY: 'b' };
    const config = loadConfig(fileURLToPath(new URL('data-flow.yaml', folder)), environment);
    const gate = config.rollouts[0]?.waves[0]?.gates[0];
    if (gate?.kind !== 'dataFlow') throw new Error('the example has no such gate');
    const scenario = parse(
      readFileSync(new URL('scenarios/silent-build.yaml', folder), 'utf8'),
    ) as ScenarioInput;
    const limits = { requestsPerSecond: null, concurrentRequests: null };
    const { wave, lost } = await aSoakedCanary(gate, 0, { ...scenario, limits });
    const failed = new Set(lost.map(({ identity }) => identity.collectorId));
    const succeeded = new Set(wave.flatMap(({ facts: { id } }) => (failed.has(id) ? [] : [id])));
    const collectors = wave.map(({ facts: { id, category } }) =>
      aCollector({ id, category: category ?? '' }),
    );
    const table = runAtOnce(tabulateAttributes(collectors));
    expect(findSharedAttribute(table, { failed, succeeded })?.attributes).toEqual([
      { key: 'category', value: 'prod/db/postgres' },
    ]);
  });
});

describe('a search gate', () => {
  const search = {
    kind: 'search',
    name: 'errors',
    dryRun: false,
    everyMs: minute,
    fromMs: 10 * minute,
  } as const;

  it.each([
    ['| count', 'met'],
    ['| count by _collector', 'error'],
  ])('needs one number as its result: `* %s` is %s', async (query, verdict) => {
    const expectation = { operator: '>', value: 100 } as const;
    const { gate } = await aSoakedCanary({ ...search, query: `* ${query}`, expect: expectation }, 0);
    expect(gate?.verdict).toBe(verdict);
  });
});
