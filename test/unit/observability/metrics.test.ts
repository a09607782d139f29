import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { Eta, RolloutStatus } from '../../../src/contract/admin/rollout-status.ts';
import type { MetricsParts, makeMetrics } from '../../../src/observability/metrics.ts';
import type { SharedState } from '../../../src/observability/shared-state-gauges.ts';
import { upgradeStates } from '../../../src/rollout/model/upgrade.ts';
import { anApiBudgetStatus, anOutage, aScanEntry, startedAt } from '../../support/builders.ts';
import { exposeEverything, someMetrics } from '../../support/exposed-metrics.ts';
import { aRolloutEvent, aRolloutStatus, aWaveStatus, countsOf } from '../../support/fake-operations.ts';
import { aGateStatus, aHeldStratum, strataHolding } from '../../support/status-parts.ts';

const aSharedState = (changes: Partial<SharedState> = {}): SharedState => ({
  statuses: [aRolloutStatus()],
  queueJobs: { waiting: 0, active: 3, delayed: 40 },
  rateShare: 1,
  outageMs: 0,
  scans: [aScanEntry()],
  fleet: [
    { version: '19.441-2', alive: true, collectors: 9 },
    { version: '19.441-2', alive: false, collectors: 1 },
  ],
  builds: [],
  ...changes,
});

function metricsOf(changes: Partial<SharedState> | null = {}, parts: Partial<MetricsParts> = {}) {
  const sharedState = async () => (changes === null ? null : aSharedState(changes));
  return someMetrics({ sharedState, ...parts });
}

const ofRollouts = (...statuses: ReadonlyArray<Partial<RolloutStatus>>) =>
  metricsOf({ statuses: statuses.map(aRolloutStatus) });

const gate = aGateStatus({ dryRun: true });
const strata = strataHolding(aHeldStratum(), aHeldStratum());
const buildHold = { build: '19.536-4', by: 'daemon', reason: 'it tripped a canary', at: 1 };
const window = { isOpen: false, until: null, reason: 'frozen: holidays', timeZone: 'UTC', ownZones: false };

/** The value of the first series that has this name and these labels: `upgrades wave="canary"`. */
async function series(metrics: ReturnType<typeof makeMetrics>, text: string) {
  const [name, ...labels] = text.split(' ');
  const { body } = await metrics.expose();
  const line = body
    .split('\n')
    .find(
      (each) => new RegExp(`^upwave_${name}[{ ]`).test(each) && labels.every((label) => each.includes(label)),
    );
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}

const promtool = spawnSync('promtool', ['--version']).status === 0;

type Shown = Readonly<Record<string, number | undefined>>;
const policy = 'policy="production"';
const ended = { state: 'succeeded', endedAt: 9_000, createdAt: 5_000, inFlight: 0 } as const;
const older = { id: 'b', state: 'aborted', endedAt: 4_000, createdAt: 3_000, inFlight: 0 } as const;
const original = { id: 'a', state: 'rollingBack', rollbackId: 'b', createdAt: 1, buildHold } as const;
const rollback: Partial<RolloutStatus> = {
  id: 'b',
  kind: 'rollback',
  rollbackOf: 'a',
  state: 'held',
  createdAt: 2,
  inFlight: 7,
  waves: [aWaveStatus({ name: 'rollback' })],
};
const passed = (counts: Parameters<typeof countsOf>[0]) => ({
  waves: [aWaveStatus({ state: 'passed', failures: 2, failuresAllowed: 2, counts: countsOf(counts) })],
});
const stateIs = (state: string) => `rollout_state state="${state}"`;
const rolledBack: ReadonlyArray<Partial<RolloutStatus>> = [
  { ...original, state: 'rolledBack', endedAt: 9 },
  { ...rollback, state: 'succeeded', endedAt: 8 },
];
const underWay: Shown = {
  [stateIs('rollingBack')]: 1,
  [stateIs('held')]: 1,
  [stateIs('running')]: 0,
  in_flight: 7,
  build_held: 1,
  'upgrades wave="canary"': undefined,
};
const evidence = [aWaveStatus({ failures: 2, failuresAllowed: 2, gates: [gate] })];
const notOfEnded = 'strata_held build_held gate_value gate_failures window_open in_flight upgrades';
const nothingMore = Object.fromEntries(notOfEnded.split(' ').map((name) => [name, undefined]));
const twoGates = [aWaveStatus({ gates: [gate, { ...gate, name: 'approver', value: null }] })];
const personWaitedFor = { waits_for_person: 1 };
const nobodyWaitedFor = { waits_for_person: 0 };

const rolloutCases: ReadonlyArray<readonly [string, ReadonlyArray<Partial<RolloutStatus>>, Shown]> = [
  [
    'the one that runs, beside those that ended',
    [older, ended, { id: 'c', createdAt: 4_000, inFlight: 7 }],
    { [`in_flight ${policy}`]: 7, [stateIs('running')]: 1, [stateIs('succeeded')]: 0 },
  ],
  ['the latest that ended, where none runs', [older, ended], { [stateIs('succeeded')]: 1 }],
  [
    'no more of one that ended than its end',
    [{ ...ended, strata, buildHold, waves: evidence }],
    { [stateIs('succeeded')]: 1, ...nothingMore },
  ],
  [
    'no gate of a passed wave that can have no more failures',
    [passed({ succeeded: 8, failed: 2 })],
    { gate_failures: undefined, gate_failures_allowed: undefined },
  ],
  [
    'the gate of a passed wave while an upgrade of it can still fail',
    [passed({ succeeded: 8, failed: 2, upgrading: 1 })],
    { gate_failures: 2, gate_failures_allowed: 2 },
  ],
  ['a rollback under way beside what it takes back', [original, rollback], underWay],
  ['in the end how a rollback went', rolledBack, { [stateIs('rolledBack')]: 1, [stateIs('succeeded')]: 0 }],
  ['nothing held, and an open window', [{}], { strata_held: 0, build_held: 0, window_open: 1 }],
  [
    'what is held, and a closed window',
    [{ strata, buildHold, window }],
    { strata_held: 2, held_collectors: 14, build_held: 1, window_open: 0 },
  ],
  ['a window that will close', [{ window: { ...window, isOpen: true, until: 5 } }], { window_open: 1 }],
  [
    'the value of a gate once one is known',
    [{ waves: twoGates }],
    { 'gate_value wave="canary" gate="errors"': 0.93, 'gate_value gate="approver"': undefined },
  ],
  ['a person waited for: a rollout', [{ state: 'awaitingApproval' }], personWaitedFor],
  ['a person waited for: held', [{ state: 'held' }], personWaitedFor],
  ['a person waited for: a held rollback', [original, rollback], personWaitedFor],
  ['no person waited for: running', [{}], nobodyWaitedFor],
];

describe('makeMetrics', () => {
  it('exposes our series, and those of the process, as text', async () => {
    const { body, contentType } = await metricsOf().expose();
    expect(contentType).toContain('text/plain');
    expect(body).toContain('upwave_build_info{version="1.2.3"} 1');
    expect(body).toContain('process_resident_memory_bytes ');
    expect(body).toContain('nodejs_heap_size_used_bytes ');
  });

  it.each(rolloutCases)('shows of rollouts %s', async (_what, statuses, shown) => {
    const metrics = ofRollouts(...statuses);
    const found = await Promise.all(Object.keys(shown).map((name) => series(metrics, name)));
    expect(found).toEqual(Object.values(shown));
  });

  it('shows the share of the request rate that may be used', async () => {
    expect(await series(metricsOf({ rateShare: 0.52 }), 'api_rate_ratio')).toBe(0.52);
  });

  it('shows how long all requests still wait for the service', async () => {
    expect(await series(metricsOf({ outageMs: 3_599_500 }), 'api_pause_seconds')).toBe(3_599.5);
    expect(await series(metricsOf(), 'api_pause_seconds')).toBe(0);
  });

  it('shows the kind of each blocker, and no blocker or wave that is no longer there', async () => {
    const blockers = [
      { kind: 'window', reason: 'the window opens at 22:00', until: startedAt },
      { kind: 'soak', reason: 'canary soaks', until: null },
    ] as const;
    let statuses = [aRolloutStatus({ blockers })];
    const metrics = metricsOf({}, { sharedState: async () => aSharedState({ statuses }) });
    const names = [
      ...['rollout_blocked kind="window"', 'rollout_blocked kind="soak"'],
      ...['gate_failures wave="canary"', 'gate_failures wave="all"'],
    ];
    const shown = () => Promise.all(names.map((name) => series(metrics, name)));
    expect(await shown()).toEqual([1, 1, 0, undefined]);
    const waves = [aWaveStatus({ name: 'all', failures: 2 })];
    statuses = [aRolloutStatus({ blockers: [blockers[1]], waves })];
    expect(await shown()).toEqual([undefined, 1, undefined, 2]);
    expect(await series(metrics, 'rollout_blocked kind="serviceDown"')).toBeUndefined();
    const outage = anOutage({ kind: 'serviceDown' });
    statuses = [aRolloutStatus({ api: anApiBudgetStatus({ outage }) })];
    expect(await series(metrics, 'rollout_blocked kind="serviceDown"')).toBe(1);
  });

  it('shows when each policy was last scanned, by result, and when the next scan is overdue', async () => {
    const scans = [
      aScanEntry({ outcome: 'started', at: startedAt, overdueAt: startedAt + 3_000 }),
      aScanEntry({ outcome: 'busy', at: startedAt + 1_000, overdueAt: startedAt + 4_000 }),
      aScanEntry({ outcome: 'failed', at: startedAt + 2_000, overdueAt: startedAt + 5_000 }),
      aScanEntry({ policy: 'new', outcome: 'failed' }),
    ];
    const metrics = metricsOf({ scans });
    const last = (labels: string) => series(metrics, `last_scan_timestamp_seconds ${labels}`);
    expect(await last(`${policy} result="started"`)).toBe(startedAt / 1_000);
    expect(await last(`${policy} result="failed"`)).toBe(startedAt / 1_000 + 2);
    expect(await last('policy="new" result="started"')).toBeUndefined();
    expect(await series(metrics, `scan_overdue_timestamp_seconds ${policy}`)).toBe(startedAt / 1_000 + 4);
    expect(await series(metrics, 'scan_overdue_timestamp_seconds policy="new"')).toBeUndefined();
  });

  it('shows that a policy waits for an operator to start it again, while no rollout of it runs', async () => {
    const needs = { kind: 'start', reason: 'Redis lost its data' } as const;
    const scans = [aScanEntry({ outcome: 'started' }), aScanEntry({ at: startedAt + 1, needs })];
    const waits = (statuses: readonly RolloutStatus[]) =>
      series(metricsOf({ scans, statuses }), `waits_for_person ${policy}`);
    expect(await waits([])).toBe(1);
    expect(await waits([aRolloutStatus({ state: 'succeeded', endedAt: 9_000 })])).toBe(1);
    expect(await waits([aRolloutStatus()])).toBe(0);
  });

  it.skipIf(!promtool)(
    'leaves promtool nothing to say (skipped where promtool is not installed)',
    async () => {
      const input = await exposeEverything();
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
        input,
        encoding: 'utf8',
      });
      expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
    },
  );

  it('leaves the series of shared state out while another daemon leads', async () => {
    const { body } = await metricsOf(null).expose();
    expect(body).not.toMatch(
      /upwave_(state_readable|upgrades|in_flight|rollout_state|fleet_collectors|queue_jobs)/,
    );
    expect(body).toContain('upwave_leader 0');
  });

  const thrown = () => {
    throw new Error('a bug');
  };
  it.each([
    ['fails', () => Promise.reject(new Error('Redis is away'))],
    ['throws', thrown],
    ['does not answer', () => new Promise<never>(() => {})],
  ])('answers without shared state when reading it %s', async (_how, sharedState) => {
    const { body } = await metricsOf({}, { sharedState, sharedStateWithinMs: 20 }).expose();
    expect(body).not.toContain('upwave_in_flight');
    expect(body).toContain('upwave_upgrade_outcomes_total');
    expect(body).toMatch(/^upwave_state_readable 0$/m);
  });

  it('shows in a series and once in the log that it could not read the shared state, and that it can again', async () => {
    const reported: unknown[] = [];
    let failure: Error | null = null;
    const sharedState = async () => {
      if (failure !== null) throw failure;
      return aSharedState();
    };
    const metrics = metricsOf({}, { sharedState, onStateRead: (each) => reported.push(each) });
    expect(await series(metrics, 'state_readable')).toBe(1);
    expect(reported).toEqual([]);
    failure = new Error('Command timed out');
    for (let scrape = 0; scrape < 3; scrape += 1) expect(await series(metrics, 'state_readable')).toBe(0);
    expect(reported).toEqual([failure]);
    failure = null;
    expect(await series(metrics, 'state_readable')).toBe(1);
    expect(await series(metrics, 'in_flight')).toBeDefined();
    expect(reported.slice(1)).toEqual([null]);
  });

  it('reads the shared state once for scrapes that come together', async () => {
    let reads = 0;
    const sharedState = async () => {
      reads += 1;
      return aSharedState();
    };
    const metrics = metricsOf({}, { sharedState });
    const [one, two] = await Promise.all([metrics.expose(), metrics.expose()]);
    expect(reads).toBe(1);
    expect(one.body.includes('upwave_in_flight')).toBe(two.body.includes('upwave_in_flight'));
    await metrics.expose();
    expect(reads).toBe(2);
  });

  it('names the installation on every series, and nothing where it has no name', async () => {
    const named = await metricsOf({}, { installation: 'production' }).expose();
    const lines = named.body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(lines.length).toBeGreaterThan(50);
    expect(lines.filter((line) => !line.includes('installation="production"'))).toEqual([]);
    expect((await metricsOf().expose()).body).not.toContain('installation');
  });

  it('adds up: the states of a wave sum to its size', async () => {
    const metrics = metricsOf();
    const counts = await Promise.all(
      upgradeStates.map((state) => series(metrics, `upgrades wave="canary" state="${state}"`)),
    );
    expect(counts.reduce<number>((sum, count) => sum + (count ?? Number.NaN), 0)).toBe(aWaveStatus().size);
  });

  it('gives times in seconds, and no time of arrival where none is known', async () => {
    const known = metricsOf();
    expect(await series(known, 'rollout_eta_timestamp_seconds')).toBe(startedAt / 1_000 + 3_600);
    const reportedOf = (eta: Eta) => series(ofRollouts({ eta }), 'rollout_eta_timestamp_seconds');
    const figures = { durationMs: 1, plusMinusMs: 1, requests: 1 };
    expect(await reportedOf({ kind: 'unknown', reason: 'held' })).toBeUndefined();
    expect(await reportedOf({ kind: 'afterApproval', approvalAt: startedAt, ...figures })).toBeUndefined();
    expect(await reportedOf({ kind: 'atTheLatest', at: startedAt, othersAt: null })).toBe(startedAt / 1_000);
    known.countEvent(aRolloutEvent({ durationMs: 300_000 }));
    expect(await series(known, `upgrade_duration_seconds_sum ${policy}`)).toBe(300);
  });

  it('names the 20 most frequent versions and adds up the rest', async () => {
    const fleet = Array.from({ length: 50 }, (_, index) => ({
      version: `19.${index}-1`,
      alive: true,
      collectors: 100 - index,
    }));
    const metrics = metricsOf({ fleet });
    expect((await metrics.expose()).body.match(/^upwave_fleet_collectors\{/gm)).toHaveLength(21);
    const rest = fleet.slice(20).reduce((sum, { collectors }) => sum + collectors, 0);
    expect(await series(metrics, 'fleet_collectors version="other"')).toBe(rest);
  });

  it('shows what the 10 newest builds did', async () => {
    const builds = Array.from({ length: 12 }, (_, index) => ({
      build: `19.${20 - index}-1`,
      tried: 9,
      failed: index,
    }));
    const metrics = metricsOf({ builds });
    expect((await metrics.expose()).body.match(/^upwave_build_(tried|failed)\{/gm)).toHaveLength(20);
    expect(await series(metrics, 'build_tried build="19.11-1"')).toBe(9);
    expect(await series(metrics, 'build_failed build="19.11-1"')).toBe(9);
    expect(await series(metrics, 'build_failed build="19.10-1"')).toBeUndefined();
  });

  it('shows a version that a machine made up as what it is', async () => {
    const fleet = [{ version: '19\u001b[2J\u202e', alive: true, collectors: 1 }];
    const { body } = await metricsOf({ fleet }).expose();
    expect(body).toMatch(/upwave_fleet_collectors\{version="19\\+u001b\[2J\\+u202e"/);
  });

  it('starts counters of its policies at zero', async () => {
    expect(await series(metricsOf(), `upgrade_outcomes_total ${policy} outcome="failed"`)).toBe(0);
  });

  it('keeps labels bounded whatever the service answers, and drops times that cannot be', async () => {
    const metrics = metricsOf();
    for (const status of [200, null, 99, 7_777, Number.NaN])
      metrics.apiAnswered({ operation: 'getUpgradeTask', status, durationMs: -5 });
    expect(await series(metrics, 'api_requests_total status="200"')).toBe(1);
    expect(await series(metrics, 'api_requests_total status="none"')).toBe(4);
    expect(await series(metrics, 'api_request_duration_seconds_count')).toBeUndefined();
  });
});
