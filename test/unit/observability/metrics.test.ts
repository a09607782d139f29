import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { type MetricsParts, makeMetrics } from '../../../src/observability/metrics.ts';
import type { SharedState } from '../../../src/observability/shared-state-metrics.ts';
import { upgradeStates } from '../../../src/rollout/model/upgrade.ts';
import type { Eta } from '../../../src/rollout/status/eta.ts';
import { aScanEntry, startedAt } from '../../support/builders.ts';
import { aRolloutStatus, aWaveStatus, countsOf } from '../../support/fake-operations.ts';

const aSharedState = (changes: Partial<SharedState> = {}): SharedState => ({
  statuses: [aRolloutStatus()],
  queueJobs: { waiting: 0, active: 3, delayed: 40 },
  outageMs: 0,
  scans: [aScanEntry()],
  fleet: [
    { version: '19.441-2', alive: true, collectors: 9 },
    { version: '19.441-2', alive: false, collectors: 1 },
  ],
  ...changes,
});

function someMetrics(parts: Partial<MetricsParts> = {}) {
  return makeMetrics({
    version: '1.2.3',
    policies: ['production'],
    sharedState: async () => aSharedState(),
    ...parts,
  });
}

const awaiting = aWaveStatus({ state: 'awaitingApproval', waits: 'approval' });

/** The value of one series, labels in any order. */
async function series(
  metrics: ReturnType<typeof makeMetrics>,
  name: string,
  labels: Record<string, string> = {},
) {
  const { body } = await metrics.expose();
  const line = body
    .split('\n')
    .find(
      (text) =>
        (text.startsWith(`upwave_${name}{`) || text.startsWith(`upwave_${name} `)) &&
        Object.entries(labels).every(([label, value]) => text.includes(`${label}="${value}"`)),
    );
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}

const promtool = spawnSync('promtool', ['--version']).status === 0;

describe('makeMetrics', () => {
  it('exposes every series that the operator was promised', async () => {
    const { body, contentType } = await someMetrics().expose();
    const names = [...body.matchAll(/^# TYPE upwave_(\S+) (\S+)$/gm)].map(
      ([, name, type]) => `${name} ${type}`,
    );
    expect(contentType).toContain('text/plain');
    expect(names.sort()).toEqual(
      [
        'build_info gauge',
        'config_last_reload_success_timestamp_seconds gauge',
        'config_last_reload_successful gauge',
        'upgrades gauge',
        'in_flight gauge',
        'concurrency_limit gauge',
        'upgrade_outcomes_total counter',
        'upgrade_attempts_total counter',
        'upgrade_duration_seconds histogram',
        'outcome_seen_delay_seconds histogram',
        'rollout_state gauge',
        'rollout_eta_timestamp_seconds gauge',
        'waits_for_person gauge',
        'rollout_blocked gauge',
        'gate_failures gauge',
        'api_pause_seconds gauge',
        'gate_failures_allowed gauge',
        'gate_value gauge',
        'strata_held gauge',
        'build_held gauge',
        'window_open gauge',
        'window_changes_timestamp_seconds gauge',
        'fleet_collectors gauge',
        'api_requests_total counter',
        'api_request_duration_seconds histogram',
        'api_budget_wait_seconds histogram',
        'api_throttled_total counter',
        'queue_jobs gauge',
        'last_scan_timestamp_seconds gauge',
        'scan_overdue_timestamp_seconds gauge',
        'leader gauge',
        'config_outdated gauge',
        'config_unread gauge',
        'gate_unanswered gauge',
        'inventory_read_timestamp_seconds gauge',
        'rollout_events_total counter',
        'wave_state gauge',
        'foreign_rollouts gauge',
        'service_up gauge',
        'state_readable gauge',
        'redis_up gauge',
        'redis_emptied_total counter',
        'redis_right_refused gauge',
      ].sort(),
    );
    expect(body).toContain('process_resident_memory_bytes ');
    expect(body).toContain('nodejs_heap_size_used_bytes ');
  });

  it('tells its version', async () => {
    expect(await series(someMetrics(), 'build_info', { version: '1.2.3' })).toBe(1);
  });

  it('tells how long all still wait for the service', async () => {
    const standing = { sharedState: async () => aSharedState({ outageMs: 3_599_500 }) };
    expect(await series(someMetrics(standing), 'api_pause_seconds')).toBe(3_599.5);
    expect(await series(someMetrics(), 'api_pause_seconds')).toBe(0);
  });

  it.each([
    ['a rollout awaits approval', [aRolloutStatus({ state: 'awaitingApproval' })], 1],
    ['a wave awaits approval', [aRolloutStatus({ waves: [awaiting] })], 1],
    ['a rollout is held', [aRolloutStatus({ state: 'held' })], 1],
    ['a rollout is paused', [aRolloutStatus({ state: 'paused' })], 1],
    ['a rollout is of another account', [aRolloutStatus({ account: 'another' })], 1],
    [
      'a rollback is held',
      [
        aRolloutStatus({ state: 'rollingBack', rollbackId: 'b' }),
        aRolloutStatus({ id: 'b', createdAt: startedAt - 1, state: 'held' }),
      ],
      1,
    ],
    ['a rollout runs', [aRolloutStatus()], 0],
    ['a wave has its approval', [aRolloutStatus({ waves: [{ ...awaiting, waits: null }] })], 0],
    ['one that waited was aborted', [aRolloutStatus({ endedAt: startedAt, waves: [awaiting] })], 0],
  ])('tells whether a person is waited for: %s', async (_what, statuses, told) => {
    const metrics = someMetrics({ sharedState: async () => aSharedState({ statuses }) });
    expect(await series(metrics, 'waits_for_person', { policy: 'production' })).toBe(told);
  });

  it('shows the kind of each blocker, and none that is over', async () => {
    const blockers = [
      { kind: 'window', reason: 'the window opens at 22:00', until: startedAt },
      { kind: 'soak', reason: 'canary soaks', until: null },
    ] as const;
    let statuses = [aRolloutStatus({ blockers })];
    const metrics = someMetrics({ sharedState: async () => aSharedState({ statuses }) });
    const blocked = (kind: string) => series(metrics, 'rollout_blocked', { policy: 'production', kind });
    expect(await blocked('window')).toBe(1);
    expect(await blocked('soak')).toBe(1);
    statuses = [aRolloutStatus({ blockers: [blockers[1]] })];
    expect(await blocked('window')).toBeUndefined();
    expect(await blocked('soak')).toBe(1);
  });

  it('shows how often in a row a probe gave no answer, and the state of each wave', async () => {
    const gate = {
      name: 'errors',
      verdict: 'waiting',
      words: '',
      value: null,
      unanswered: 3,
      dryRun: false,
    } as const;
    const waves = [aWaveStatus({ state: 'soaking', gates: [gate] })];
    const metrics = someMetrics({
      sharedState: async () => aSharedState({ statuses: [aRolloutStatus({ waves })] }),
    });
    const of = { policy: 'production', wave: 'canary' };
    expect(await series(metrics, 'gate_unanswered', { ...of, gate: 'errors' })).toBe(3);
    expect(await series(metrics, 'wave_state', { ...of, state: 'soaking' })).toBe(1);
    expect(await series(metrics, 'wave_state', { ...of, state: 'open' })).toBe(0);
  });

  it('shows when the window changes, and nothing without a window', async () => {
    const window = {
      isOpen: true,
      until: startedAt + 5_000,
      reason: '',
      timeZone: 'UTC',
      ownZones: false,
    };
    let statuses = [aRolloutStatus({ window })];
    const metrics = someMetrics({ sharedState: async () => aSharedState({ statuses }) });
    expect(await series(metrics, 'window_changes_timestamp_seconds')).toBe(startedAt / 1_000 + 5);
    statuses = [aRolloutStatus({ window: null })];
    expect(await series(metrics, 'window_changes_timestamp_seconds')).toBeUndefined();
  });

  it('shows when it read the inventory, and whether the config file has changes it has not read', async () => {
    let isUnread = false;
    const metrics = someMetrics({ isConfigUnread: () => isUnread });
    metrics.inventoryRead(startedAt);
    expect(await series(metrics, 'inventory_read_timestamp_seconds')).toBe(startedAt / 1_000);
    expect(await series(metrics, 'config_unread')).toBe(0);
    isUnread = true;
    expect(await series(metrics, 'config_unread')).toBe(1);
  });

  it('tells when each policy last looked for work, by result, and when that is overdue', async () => {
    const metrics = someMetrics({
      sharedState: async () =>
        aSharedState({
          scans: [
            aScanEntry({ outcome: 'started', at: startedAt, overdueAt: startedAt + 3_000 }),
            aScanEntry({ outcome: 'busy', at: startedAt + 1_000, overdueAt: startedAt + 4_000 }),
            aScanEntry({ outcome: 'failed', at: startedAt + 2_000, overdueAt: startedAt + 5_000 }),
            aScanEntry({ policy: 'new', outcome: 'failed' }),
          ],
        }),
    });
    const last = (policy: string, result: string) =>
      series(metrics, 'last_scan_timestamp_seconds', { policy, result });
    expect(await last('production', 'started')).toBe(startedAt / 1_000);
    expect(await last('production', 'failed')).toBe(startedAt / 1_000 + 2);
    expect(await last('new', 'started')).toBeUndefined();
    const overdue = (policy: string) => series(metrics, 'scan_overdue_timestamp_seconds', { policy });
    expect(await overdue('production')).toBe(startedAt / 1_000 + 4);
    expect(await overdue('new')).toBeUndefined();
  });

  it.skipIf(!promtool)(
    'leaves promtool nothing to say (skipped where promtool is not installed)',
    async () => {
      const gate = {
        name: 'errors',
        verdict: 'pass',
        words: '',
        value: 0.99,
        unanswered: 0,
        dryRun: false,
      } as const;
      const waves = [aWaveStatus({ gates: [gate] })];
      const metrics = someMetrics({
        sharedState: async () => aSharedState({ statuses: [aRolloutStatus({ waves })] }),
      });
      metrics.upgradeEnded({
        policy: 'production',
        outcome: 'succeeded',
        durationMs: 300_000,
      });
      metrics.taskEndSeen(4_000);
      metrics.apiAnswered({ operation: 'getUpgradeTask', status: 200, durationMs: 80 });
      metrics.budgetTaken({ class: 'create', waitedMs: 12 });
      const { body } = await metrics.expose();
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
        input: body,
        encoding: 'utf8',
      });
      expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
    },
  );

  it('leaves the series of shared state out while another daemon leads', async () => {
    const { body } = await someMetrics({ sharedState: async () => null }).expose();
    expect(body).not.toMatch(
      /upwave_(state_readable|upgrades|in_flight|rollout_state|fleet_collectors|queue_jobs)/,
    );
    expect(body).toContain('upwave_leader 0');
  });

  it.each([
    ['fails', () => Promise.reject(new Error('Redis is away'))],
    [
      'throws',
      () => {
        throw new Error('a bug');
      },
    ],
    ['does not answer', () => new Promise<never>(() => {})],
  ])('answers without shared state when reading it %s', async (_how, sharedState) => {
    const { body } = await someMetrics({ sharedState, sharedStateWithinMs: 20 }).expose();
    expect(body).not.toContain('upwave_in_flight');
    expect(body).toContain('upwave_upgrade_outcomes_total');
    expect(body).toMatch(/^upwave_state_readable 0$/m);
  });

  it('says in a series and once in the log that it could not read the shared state, and that it can again', async () => {
    const told: unknown[] = [];
    let failure: Error | null = null;
    const metrics = someMetrics({
      sharedState: async () => {
        if (failure !== null) throw failure;
        return aSharedState();
      },
      onStateRead: (each) => told.push(each),
    });
    expect(await series(metrics, 'state_readable')).toBe(1);
    expect(told).toEqual([]);
    failure = new Error('Command timed out');
    for (let scrape = 0; scrape < 3; scrape += 1) expect(await series(metrics, 'state_readable')).toBe(0);
    expect(told).toEqual([failure]);
    failure = null;
    expect(await series(metrics, 'state_readable')).toBe(1);
    expect(await series(metrics, 'in_flight')).toBeDefined();
    expect(told).toHaveLength(2);
    expect(told[1]).toBeNull();
  });

  it('reads the shared state once for scrapes that come together', async () => {
    let reads = 0;
    const metrics = someMetrics({
      sharedState: async () => {
        reads += 1;
        return aSharedState();
      },
    });
    const [one, two] = await Promise.all([metrics.expose(), metrics.expose()]);
    expect(reads).toBe(1);
    expect(one.body.includes('upwave_in_flight')).toBe(two.body.includes('upwave_in_flight'));
    await metrics.expose();
    expect(reads).toBe(2);
  });

  it('shows the rollout that runs, else the latest one, for its policy', async () => {
    const ended = aRolloutStatus({
      id: 'a',
      state: 'succeeded',
      endedAt: 9_000,
      createdAt: 5_000,
      inFlight: 0,
    });
    const older = aRolloutStatus({
      id: 'b',
      state: 'aborted',
      endedAt: 4_000,
      createdAt: 3_000,
      inFlight: 0,
    });
    const running = aRolloutStatus({ id: 'c', state: 'running', createdAt: 4_000, inFlight: 7 });
    const both = someMetrics({
      sharedState: async () => aSharedState({ statuses: [older, ended, running] }),
    });
    expect(await series(both, 'in_flight', { policy: 'production' })).toBe(7);
    expect(await series(both, 'rollout_state', { state: 'running' })).toBe(1);
    expect(await series(both, 'rollout_state', { state: 'succeeded' })).toBe(0);
    const none = someMetrics({ sharedState: async () => aSharedState({ statuses: [older, ended] }) });
    expect(await series(none, 'rollout_state', { state: 'succeeded' })).toBe(1);
  });

  it('shows no more of an ended rollout than its end', async () => {
    const held = { label: 'Linux', reason: '3 of 4 failed', by: 'daemon', at: 1, waiting: 7 };
    const gate = {
      name: 'errors',
      verdict: 'pass',
      words: '',
      value: 0.93,
      unanswered: 0,
      dryRun: false,
    } as const;
    const ended = aRolloutStatus({
      state: 'aborted',
      endedAt: startedAt,
      strata: { total: 3, held: [held], uncovered: { count: 0, labels: [] } },
      buildHold: { build: '19.536-4', by: 'daemon', reason: 'it tripped a canary', at: 1 },
      waves: [aWaveStatus({ failures: 2, failuresAllowed: 2, gates: [gate] })],
    });
    const metrics = someMetrics({ sharedState: async () => aSharedState({ statuses: [ended] }) });
    expect(await series(metrics, 'rollout_state', { state: 'aborted' })).toBe(1);
    const { body } = await metrics.expose();
    expect(body).not.toMatch(/^upwave_(strata_held|build_held|gate_|window_open|in_flight|upgrades)\{/m);
  });

  it('shows the gate of a passed wave only while an upgrade of it can still fail', async () => {
    const failuresOf = async (counts: Parameters<typeof countsOf>[0]) => {
      const waves = [
        aWaveStatus({ state: 'passed', failures: 2, failuresAllowed: 2, counts: countsOf(counts) }),
      ];
      const statuses = [aRolloutStatus({ waves })];
      const metrics = someMetrics({ sharedState: async () => aSharedState({ statuses }) });
      return [await series(metrics, 'gate_failures'), await series(metrics, 'gate_failures_allowed')];
    };
    expect(await failuresOf({ succeeded: 8, failed: 2 })).toEqual([undefined, undefined]);
    expect(await failuresOf({ succeeded: 8, failed: 2, upgrading: 1 })).toEqual([2, 2]);
  });

  it('names the installation on every series, and nothing where it has no name', async () => {
    const named = await someMetrics({ installation: 'production' }).expose();
    const lines = named.body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(lines.length).toBeGreaterThan(50);
    expect(lines.filter((line) => !line.includes('installation="production"'))).toEqual([]);
    expect((await someMetrics().expose()).body).not.toContain('installation');
  });

  it('shows a rollback under way beside what it takes back, and in the end how that went', async () => {
    const buildHold = { build: '19.536-4', by: 'daemon', reason: 'it tripped a canary', at: 1 };
    const original = aRolloutStatus({
      id: 'a',
      state: 'rollingBack',
      rollbackId: 'b',
      createdAt: 1,
      buildHold,
    });
    const rollback = aRolloutStatus({
      id: 'b',
      kind: 'rollback',
      rollbackOf: 'a',
      state: 'held',
      createdAt: 2,
      inFlight: 7,
      waves: [aWaveStatus({ name: 'rollback' })],
    });
    const during = someMetrics({ sharedState: async () => aSharedState({ statuses: [original, rollback] }) });
    expect(await series(during, 'rollout_state', { state: 'rollingBack' })).toBe(1);
    expect(await series(during, 'rollout_state', { state: 'held' })).toBe(1);
    expect(await series(during, 'rollout_state', { state: 'running' })).toBe(0);
    expect(await series(during, 'in_flight')).toBe(7);
    expect(await series(during, 'build_held')).toBe(1);
    expect(await series(during, 'upgrades', { wave: 'canary' })).toBeUndefined();
    const statuses = [
      { ...original, state: 'rolledBack' as const, endedAt: 9 },
      { ...rollback, state: 'succeeded' as const, endedAt: 8 },
    ];
    const after = someMetrics({ sharedState: async () => aSharedState({ statuses }) });
    expect(await series(after, 'rollout_state', { state: 'rolledBack' })).toBe(1);
    expect(await series(after, 'rollout_state', { state: 'succeeded' })).toBe(0);
  });

  it('shows what is held, and whether the window is open', async () => {
    const free = someMetrics();
    expect(await series(free, 'strata_held', { policy: 'production' })).toBe(0);
    expect(await series(free, 'build_held', { policy: 'production' })).toBe(0);
    expect(await series(free, 'window_open', { policy: 'production' })).toBe(1);
    const held = { label: 'Linux', reason: '3 of 4 failed', by: 'daemon', at: 1, waiting: 7 };
    const status = aRolloutStatus({
      strata: { total: 3, held: [held, held], uncovered: { count: 0, labels: [] } },
      buildHold: { build: '19.536-4', by: 'daemon', reason: 'it tripped a canary', at: 1 },
      window: { isOpen: false, until: null, reason: 'frozen: holidays', timeZone: 'UTC', ownZones: false },
    });
    const stopped = someMetrics({ sharedState: async () => aSharedState({ statuses: [status] }) });
    expect(await series(stopped, 'strata_held', { policy: 'production' })).toBe(2);
    expect(await series(stopped, 'build_held', { policy: 'production' })).toBe(1);
    expect(await series(stopped, 'window_open', { policy: 'production' })).toBe(0);
    const open = aRolloutStatus({
      window: { isOpen: true, until: 5, reason: 'open', timeZone: 'UTC', ownZones: false },
    });
    const going = someMetrics({ sharedState: async () => aSharedState({ statuses: [open] }) });
    expect(await series(going, 'window_open', { policy: 'production' })).toBe(1);
  });

  it('shows the value of a gate once one is known', async () => {
    const gate = {
      name: 'errors',
      verdict: 'pass',
      words: '',
      value: 0.93,
      unanswered: 0,
      dryRun: true,
    } as const;
    const waves = [aWaveStatus({ gates: [gate, { ...gate, name: 'approver', value: null }] })];
    const metrics = someMetrics({
      sharedState: async () => aSharedState({ statuses: [aRolloutStatus({ waves })] }),
    });
    expect(
      await series(metrics, 'gate_value', { policy: 'production', wave: 'canary', gate: 'errors' }),
    ).toBe(0.93);
    expect(await series(metrics, 'gate_value', { gate: 'approver' })).toBeUndefined();
  });

  it('adds up: the states of a wave sum to its size', async () => {
    const metrics = someMetrics();
    const counts = await Promise.all(
      upgradeStates.map((state) => series(metrics, 'upgrades', { wave: 'canary', state })),
    );
    expect(counts.reduce<number>((sum, count) => sum + (count ?? Number.NaN), 0)).toBe(aWaveStatus().size);
  });

  it('forgets a wave that is no longer there', async () => {
    let waves = [aWaveStatus({ name: 'canary' })];
    const metrics = someMetrics({
      sharedState: async () => aSharedState({ statuses: [aRolloutStatus({ waves })] }),
    });
    expect(await series(metrics, 'gate_failures', { wave: 'canary' })).toBe(0);
    waves = [aWaveStatus({ name: 'all', counts: countsOf({ failed: 2 }), failures: 2 })];
    expect(await series(metrics, 'gate_failures', { wave: 'canary' })).toBeUndefined();
    expect(await series(metrics, 'gate_failures', { wave: 'all' })).toBe(2);
  });

  it('gives times in seconds, and no time of arrival where none is known', async () => {
    const known = someMetrics();
    expect(await series(known, 'rollout_eta_timestamp_seconds')).toBe(startedAt / 1_000 + 3_600);
    const reportedOf = (eta: Eta) => {
      const sharedState = async () => aSharedState({ statuses: [aRolloutStatus({ eta })] });
      return series(someMetrics({ sharedState }), 'rollout_eta_timestamp_seconds');
    };
    const figures = { plusMinusMs: 1, requests: 1 };
    expect(await reportedOf({ kind: 'unknown', reason: 'held' })).toBeUndefined();
    const afterApproval = {
      kind: 'afterApproval',
      approvalAt: startedAt,
      durationMs: 1,
      ...figures,
    } as const;
    expect(await reportedOf(afterApproval)).toBeUndefined();
    expect(await reportedOf({ kind: 'atTheLatest', at: startedAt })).toBe(startedAt / 1_000);
    known.upgradeEnded({ policy: 'production', outcome: 'succeeded', durationMs: 300_000 });
    expect(await series(known, 'upgrade_duration_seconds_sum', { policy: 'production' })).toBe(300);
  });

  it('names the 20 most frequent versions and adds up the rest', async () => {
    const fleet = Array.from({ length: 50 }, (_, index) => ({
      version: `19.${index}-1`,
      alive: true,
      collectors: 100 - index,
    }));
    const metrics = someMetrics({ sharedState: async () => aSharedState({ fleet }) });
    const { body } = await metrics.expose();
    expect(body.match(/^upwave_fleet_collectors\{/gm)).toHaveLength(21);
    const rest = fleet.slice(20).reduce((sum, { collectors }) => sum + collectors, 0);
    expect(await series(metrics, 'fleet_collectors', { version: 'other' })).toBe(rest);
  });

  it('shows a version that a machine made up as what it is', async () => {
    const fleet = [{ version: '19\u001b[2J\u202e', alive: true, collectors: 1 }];
    const { body } = await someMetrics({ sharedState: async () => aSharedState({ fleet }) }).expose();
    expect(body).toMatch(/upwave_fleet_collectors\{version="19\\+u001b\[2J\\+u202e"/);
  });

  it('starts counters of its policies at zero', async () => {
    expect(
      await series(someMetrics(), 'upgrade_outcomes_total', { policy: 'production', outcome: 'failed' }),
    ).toBe(0);
  });

  it('keeps labels bounded whatever the service answers, and drops times that can not be', async () => {
    const metrics = someMetrics();
    for (const status of [200, null, 99, 7_777, Number.NaN]) {
      metrics.apiAnswered({ operation: 'getUpgradeTask', status, durationMs: -5 });
    }
    expect(await series(metrics, 'api_requests_total', { status: '200' })).toBe(1);
    expect(await series(metrics, 'api_requests_total', { status: 'none' })).toBe(4);
    expect(await series(metrics, 'api_request_duration_seconds_count')).toBeUndefined();
  });

  it('holds no collector and no rollout id in a label', async () => {
    const { body } = await someMetrics().expose();
    expect(body).not.toContain(aRolloutStatus().id);
  });
});
