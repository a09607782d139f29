import { describe, expect, it } from 'vitest';
import { policyLines } from '../../../../src/cli/plan/policy-lines.ts';
import { aWebhookGate } from '../../../support/builders/gate-builders.ts';
import { aPolicy, aWaveRule } from '../../../support/builders.ts';

const gate = aWebhookGate({ name: 'pager', dryRun: true });

describe('a policy in short', () => {
  it('names target, speed and waves', () => {
    expect(policyLines(aPolicy())).toEqual([
      'production: to latest, 10 at a time, */15 * * * * UTC; rest 100% (soak 0s, failures 2%)',
    ]);
  });

  it('names windows, approvals and gates', () => {
    const policy = aPolicy({
      windows: [
        { days: [1, 2], fromMinute: 22 * 60, toMinute: 5 * 60, timeZone: 'collector' },
        { days: [1, 2, 3, 4, 5, 6, 7], fromMinute: 0, toMinute: 90, timeZone: 'UTC' },
      ],
      freezes: [{ from: '2026-12-20T00:00', to: '2027-01-04T00:00', reason: 'holidays', timeZone: 'UTC' }],
      approval: true,
      waves: [
        aWaveRule({ name: 'canary', gates: [gate, { ...gate, name: 'webhook', dryRun: false }] }),
        aWaveRule({ approval: true }),
      ],
    });
    expect(policyLines(policy).slice(1)).toEqual([
      '  windows: mon, tue 22:00-05:00 collector; daily 00:00-01:30 UTC',
      '  freezes: 2026-12-20T00:00 to 2027-01-04T00:00 UTC (holidays)',
      '  approval of: the plan, wave rest',
      '  gates of canary: pager (webhook, decides nothing), webhook',
    ]);
  });

  it('names what limits starts in time', () => {
    const pace = { perHour: 200, from: 200, factor: 1, after: 1 };
    const night = { days: [6, 7], fromMinute: 0, toMinute: 90, timeZone: 'UTC' };
    const policy = aPolicy({
      select: { include: {}, exclude: [], share: 30 },
      pace,
      waves: [
        aWaveRule({ name: 'canary', pace: { ...pace, from: 20, factor: 2, after: 50 }, windows: [] }),
        aWaveRule({ windows: [night], notBefore: '2026-12-01T08:00' }),
      ],
    });
    expect(policyLines(policy).slice(1)).toEqual([
      '  share: 30% of the selected collectors',
      '  pace: 200 an hour',
      '  pace of canary: 20 an hour, ×2 after 50, up to 200',
      '  windows of canary: any time',
      '  windows of rest: Sat Sun 00:00–01:30 UTC',
      '  start of rest: not before 2026-12-01 08:00 UTC',
    ]);
  });
});
