import { describe, expect, it } from 'vitest';
import { policyRows, renderOverview } from '../../../../src/cli/rollouts/render-overview.ts';
import type { RolloutStatus } from '../../../../src/contract/admin/rollout-status.ts';
import { startedAt } from '../../../support/builders.ts';
import { aRolloutStatus, countsOf } from '../../../support/fake-operations.ts';
import { aPolicyStatus } from '../../../support/status-parts.ts';

const plain = { paint: (_format: unknown, text: string) => text };
const of = (policy: string, changes: Parameters<typeof aRolloutStatus>[0]) =>
  aRolloutStatus({ policy, id: `${policy}-20260302-1`, ...changes });
const linesOf = (statuses: readonly RolloutStatus[], ...policies: readonly string[]) =>
  renderOverview(
    policyRows(statuses, { policies: policies.map((policy) => aPolicyStatus({ policy })) }),
    startedAt,
    plain,
  ).flat();

describe('the overview of the policies', () => {
  it('has one line for each policy, those that need a person first, within 80 columns', () => {
    const over = { endedAt: startedAt, eta: null } as const;
    const lines = linesOf(
      [
        of('web', { eta: { kind: 'at', at: startedAt + 3_600_000, plusMinusMs: 0, requests: 1 } }),
        of('mac', { ...over, state: 'finishedWithFailures', counts: countsOf({ succeeded: 9, failed: 1 }) }),
        of('edge', { ...over, state: 'succeeded', counts: countsOf({ succeeded: 10 }) }),
        of('database-primaries-of-europe', { state: 'held', eta: null }),
      ],
      'web',
      'night',
    );
    expect(lines.map((line) => line.replace(/\d\d:\d\d \S+$/, 'HH:MM'))).toEqual([
      'database-primaries-…  NEEDS YOU: it is held        1/10 ok',
      'web                   RUNNING wave 1/2 canary      1/10 ok  1h left',
      'mac                   FINISHED WITH FAILURES       9/10 ok  1 failed  HH:MM',
      'edge                  SUCCEEDED                   10/10 ok  HH:MM',
      'night                 no rollout yet           next scan HH:MM',
    ]);
    expect(lines.filter(({ length }) => length > 80)).toEqual([]);
  });

  it('counts collectors of held strata', () => {
    const held = [
      {
        label: 'osName=Windows*',
        kind: 'asked' as const,
        reason: 'by root: disk',
        by: 'root',
        at: startedAt,
        waiting: 58,
      },
    ];
    const strata = { total: 2, held, uncovered: { count: 0, labels: [] } };
    expect(linesOf([of('web', { strata, eta: null })])[0]).toMatch(/1\/10 ok {2}58 held$/);
  });

  it('shows first that an operator has to start a policy again, how, and why', () => {
    const reason = 'Redis lost its data, and production-20260302-1 was held: wave canary: 3 failures';
    const policies = [aPolicyStatus({ policy: 'web' }), aPolicyStatus({ policy: 'production' })];
    const needing = policies.map((each) =>
      each.policy === 'production' ? { ...each, needs: { kind: 'start', reason } as const } : each,
    );
    const ended = of('production', { state: 'succeeded', endedAt: startedAt, eta: null });
    for (const statuses of [[], [ended]]) {
      const rows = policyRows([of('web', { eta: null }), ...statuses], { policies: needing });
      const lines = renderOverview(rows, startedAt, { ...plain, columns: 80 }).flat();
      expect(lines.slice(0, 2)).toEqual([
        'production  NEEDS YOU: start it again  do upwave start production',
        `${' '.repeat(39)}Redis lost its data, and`,
      ]);
      expect(lines.at(-1)).toMatch(/^web +RUNNING/);
    }
    const running = policyRows([of('production', { eta: null })], { policies: needing });
    expect(renderOverview(running, startedAt, plain)[0]?.[0]).toMatch(/^production +RUNNING/);
  });

  it('shows why a policy has no rollout, when its last scan has a reason', () => {
    const reason = 'the service does not offer build 19.999-1';
    const lastScan = { at: startedAt, outcome: 'nothing', reason } as const;
    const rows = policyRows([], { policies: [aPolicyStatus({ policy: 'web', lastScan })] });
    expect(renderOverview(rows, startedAt, plain)).toEqual([[`web  no rollout yet  ${reason}`]]);
  });

  it('wraps the reason of a policy without a rollout, because its end is the command to use', () => {
    const reason =
      'Redis lost its data, and web-20260302-1 was paused; only an operator starts it again: upwave start web';
    const lastScan = { at: startedAt, outcome: 'nothing', reason } as const;
    const rows = policyRows([], { policies: [aPolicyStatus({ policy: 'web', lastScan })] });
    expect(renderOverview(rows, startedAt, plain)).toEqual([[`web  no rollout yet  ${reason}`]]);
    const [lines = []] = renderOverview(rows, startedAt, { ...plain, columns: 80 });
    expect(lines.filter(({ length }) => length > 80)).toEqual([]);
    expect(lines.map((line) => line.trim()).join(' ')).toBe(`web  no rollout yet  ${reason}`);
  });

  const inTime = { plusMinusMs: 0, requests: 1 };
  it.each([
    [{ kind: 'at', at: startedAt + 93_000, ...inTime }, '  1m33s left'],
    [{ kind: 'afterApproval', approvalAt: null, durationMs: 93_000, ...inTime }, '  1m33s after approval'],
  ] as const)('leaves out the name of the wave before the time of %o, and never its words', (eta, when) => {
    const rows = policyRows([of('web', { eta, planned: 100_000 })], { policies: [] });
    const [[whole = ''] = []] = renderOverview(rows, startedAt, plain);
    expect(whole).toBe(`web  RUNNING wave 1/2 canary  1/100,000 ok${when}`);
    const lineIn = (columns: number) => renderOverview(rows, startedAt, { ...plain, columns })[0]?.[0];
    const short = whole.replace(' canary', '');
    expect(lineIn(whole.length - 1)).toBe(short);
    expect(lineIn(short.length)).toBe(short);
    expect(lineIn(short.length - 1)).toBe(whole.replace(when, ''));
  });

  it('shows when a later approval is due, because the duration begins only then', () => {
    const approvalAt = startedAt + 2 * 86_400_000;
    const eta = { kind: 'afterApproval', approvalAt, durationMs: 86_000, ...inTime } as const;
    const rows = policyRows([of('web', { eta, waitsFor: { kind: 'window', until: approvalAt } })], {
      policies: [],
    });
    const [[whole = ''] = []] = renderOverview(rows, startedAt, plain);
    expect(whole).toMatch(/ok {2}approval about 2026-03-0\d \d\d:\d\d \S+, then 1m26s$/);
    const [[line = ''] = []] = renderOverview(rows, startedAt, { ...plain, columns: 80 });
    expect(line).toMatch(
      /^web {2}WAITS FOR WINDOW wave 1\/2 .*ok {2}approval about 2026-03-0\d \d\d:\d\d \S+$/,
    );
    const [[least] = []] = renderOverview(rows, startedAt, { ...plain, columns: 70 });
    expect(least).toMatch(/ok {2}needs an approval$/);
  });

  it('shows when most are expected to end, and the latest end where there is room for one time only', () => {
    const eta = { kind: 'atTheLatest', at: startedAt + 60 * 60_000, othersAt: startedAt + 93_000 } as const;
    const rows = policyRows([of('web', { eta })], { policies: [] });
    const [[whole = ''] = []] = renderOverview(rows, startedAt, plain);
    expect(whole).toMatch(/ {2}1m33s left \(at the latest \d\d:\d\d \S+\)$/);
    const [[line] = []] = renderOverview(rows, startedAt, { ...plain, columns: 50 });
    expect(line).toMatch(/ok {2}by \d\d:\d\d \S+$/);
  });

  it('shows a held rollout before one that waits for approval, like the page', () => {
    const [held, approval] = [of('web', { state: 'held' }), of('lab', { state: 'awaitingApproval' })];
    const rows = policyRows([approval, held], { policies: [] });
    expect(rows.map(({ policy }) => policy)).toEqual(['web', 'lab']);
  });

  it('lists the rollout that broke a build above those that its hold stops, and a closed window last', () => {
    const statuses = [
      of('night', { waitsFor: { kind: 'window', until: startedAt } }),
      of('run', {}),
      of('down', { waitsFor: { kind: 'inventory', until: null } }),
      of('follower', { state: 'held', reasonKind: 'buildHeld' }),
      of('culprit', { state: 'held', reasonKind: 'failures' }),
    ];
    const order = ['culprit', 'follower', 'down', 'run', 'night', 'new'];
    const policies = [aPolicyStatus({ policy: 'new' })];
    expect(policyRows(statuses, { policies }).map(({ policy }) => policy)).toEqual(order);
  });

  it('shows the rollback instead of its original rollout, and a held rollout before a newer running one', () => {
    const rollback = of('web', { id: 'web-20260302-2', kind: 'rollback', rollbackOf: 'web-20260302-1' });
    const rolledBack = of('web', { state: 'rollingBack', rollbackId: 'web-20260302-2' });
    const rowOf = (...statuses: readonly RolloutStatus[]) =>
      policyRows(statuses, { policies: [] }).map(({ status }) => status?.id);
    expect(rowOf(rollback, rolledBack)).toEqual(['web-20260302-2']);
    expect(rowOf(of('web', { id: 'new' }), of('web', { id: 'held', state: 'held' }))).toEqual(['held']);
  });

  const left = (kind: 'buildNotOffered' | 'failed', count: number) =>
    ({ kind, reason: 'gone', count, names: [] }) as const;
  const rollback = of('web', {
    ...{ id: 'web-20260302-2', kind: 'rollback', rollbackOf: 'web-20260302-1', planned: 78 },
    leftBehind: [left('buildNotOffered', 11)],
  });

  it('shows the rollback from the start, also while it waits for a window', () => {
    const waitsFor = { kind: 'window', until: startedAt + 60_000 } as const;
    const counts = countsOf({ pending: 78 });
    const waiting = aRolloutStatus({ ...rollback, counts, waitsFor, eta: null });
    const original = of('web', {
      ...{ state: 'rollingBack', rollbackId: rollback.id, planned: 94 },
      counts: countsOf({ succeeded: 73, failed: 20 }),
    });
    expect(linesOf([waiting, original])).toEqual([
      'web  WAITS FOR WINDOW wave 1/2 canary    0/78 back  11 stay',
    ]);
  });

  it('counts those that are back as the detail does, and alike for the rollout that is taken back', () => {
    const back = aRolloutStatus({
      ...{ ...rollback, state: 'finishedWithFailures', endedAt: startedAt },
      counts: countsOf({ succeeded: 77, failed: 1 }),
    });
    const rolledBack = of('web', {
      ...{ state: 'rolledBack', rollbackId: rollback.id, planned: 206, endedAt: startedAt },
      counts: countsOf({ rolledBack: 77, succeeded: 12, withdrawn: 117 }),
      leftBehind: [left('buildNotOffered', 11), left('failed', 1)],
    });
    expect(linesOf([back])[0]).toContain('77/78 back  1 failed  11 stay  ');
    expect(linesOf([rolledBack])[0]).toContain('77/78 back  11 stay  ');
  });

  it('leaves out how many stay before the time, where there is little room', () => {
    const ended = aRolloutStatus({ ...rollback, state: 'succeeded', endedAt: startedAt });
    const rows = policyRows([ended], { policies: [] });
    const [[whole = ''] = []] = renderOverview(rows, startedAt, plain);
    const [[line] = []] = renderOverview(rows, startedAt, { ...plain, columns: whole.length - 1 });
    expect(line).toBe(whole.replace('  11 stay', ''));
  });

  it('lets no foreign text control the terminal', () => {
    expect(linesOf([], 'a\u001b[2J')[0]).toMatch(/^a\\u001b\[2J {2}no rollout yet/);
  });
});
