import type { RolloutCourse } from '../../../src/contract/admin/course.ts';
import type { AuditEntry } from '../../../src/contract/admin/holds.ts';
import type { RolloutNight } from '../../../src/contract/admin/night.ts';
import type { RolloutStatus } from '../../../src/contract/admin/rollout-status.ts';
import type { PlanGroups } from '../../../src/rollout/model/plan-groups.ts';
import type { Upgrade } from '../../../src/rollout/model/upgrade.ts';
import type { BuildRecord } from '../../../src/rollout/report/build-record.ts';
import { aBuildRecord, anUpgrade, because } from '../builders.ts';
import { aRolloutEvent, aRolloutStatus, aWaveStatus, countsOf } from '../fake-operations.ts';
import { aCause, aGateStatus } from '../status-parts.ts';
import { anEndedOne } from '../upgrade-cases.ts';

const minute = 60_000;
const now = Date.now();
const strata = [
  'Linux / amd64 / 19.441-2',
  'Windows Server 2019 / amd64 / 19.441-2',
  'AIX / ppc64 / 19.402-1',
];

/** An installation with four rollouts: one waits for approval, one is held, one runs at a pace, one has ended. */
export const waiting = 'production-20261122-3';
export const paced = 'edge-20261122-1';
export const worldRollouts: readonly RolloutStatus[] = [
  aRolloutStatus({
    id: paced,
    policy: 'edge',
    createdAt: now - 30 * minute,
    eta: { kind: 'at', at: now + 80 * minute, plusMinusMs: 9 * minute, requests: 800 },
    blockers: [
      {
        ...{ kind: 'pace', reason: 'the pace of wave canary allows 600 starts an hour' },
        until: now + 40_000,
      },
    ],
  }),
  aRolloutStatus({
    id: waiting,
    policy: 'production',
    createdAt: now - 95 * minute,
    planned: 1215,
    counts: countsOf({ succeeded: 180, failed: 9, unconfirmed: 2, pending: 1021, deferred: 3 }),
    inFlight: 0,
    leftOut: [
      { kind: 'leftFleet', reason: 'runs on a Mac', count: 3 },
      { kind: 'excluded', reason: 'excluded by select.exclude[1]', count: 14 },
    ],
    sharedAttribute: {
      attributes: [{ key: 'osName', value: 'Windows*' }],
      ...{ failed: 10, tried: 66, elsewhere: { failed: 1, tried: 125 }, share: 0.1 },
    },
    fromBuilds: ['19.441-2', '19.402-1'],
    eta: {
      kind: 'afterApproval',
      approvalAt: null,
      durationMs: 100 * minute,
      plusMinusMs: 8 * minute,
      requests: 2500,
    },
    window: {
      isOpen: true,
      until: now + 200 * minute,
      reason: 'mon–thu 22:00–05:00',
      timeZone: 'Asia/Tokyo',
      ownZones: true,
    },
    strata: { total: 3, held: [], uncovered: { count: 1, labels: ['AIX / ppc64 / 19.402-1'] } },
    waves: [
      aWaveStatus({
        name: 'canary',
        size: 70,
        strata: 2,
        state: 'passed',
        counts: countsOf({ succeeded: 61, failed: 9 }),
        failures: 4,
        failuresAllowed: 5,
        acknowledged: 5,
        openedAt: now - 95 * minute,
        passedAt: now - 48 * minute,
      }),
      aWaveStatus({
        name: 'early',
        size: 122,
        strata: 3,
        state: 'passed',
        counts: countsOf({ succeeded: 119, unconfirmed: 2, deferred: 1 }),
        failures: 6,
        failuresAllowed: 12,
        lost: 2,
        openedAt: now - 48 * minute,
        passedAt: now - 9 * minute,
        gates: [
          aGateStatus({ words: 'errors 0.998, expected >= 0.99', value: 0.998 }),
          aGateStatus({
            ...{ name: 'data flow', verdict: 'inconclusive', words: 'data flow: no answer yet' },
            ...{ value: null, unanswered: 1, dryRun: true },
          }),
        ],
      }),
      aWaveStatus({
        name: 'rest',
        size: 1023,
        strata: 3,
        state: 'awaitingApproval',
        counts: countsOf({ pending: 1021, deferred: 2 }),
        failuresAllowed: 20,
        openedAt: null,
        waits: 'approval',
      }),
    ],
    causes: [
      {
        of: 'failed',
        total: 11,
        causes: [
          aCause({ text: 'permission denied: cannot write …', count: 9 }),
          aCause({ kind: 'unconfirmed', text: 'not alive again within 10m', count: 2 }),
        ],
        others: { count: 0, causes: 0, unread: 0 },
      },
    ],
    blockers: [{ kind: 'waveApproval', reason: 'wave rest waits for approval', until: null }],
    verbs: ['approve', 'pause', 'abort', 'rollback', 'retry'],
  }),
  aRolloutStatus({
    id: 'lab-20261122-1',
    policy: 'lab',
    state: 'held',
    hold: 17,
    createdAt: now - 20 * minute,
    reason: 'wave canary has 2 failures of 0 allowed',
    reasonKind: 'failures',
    eta: { kind: 'unknown', reason: 'held' },
    blockers: [{ kind: 'held', reason: 'the rollout is held: wave canary has 2 failures', until: null }],
    buildHold: { build: '19.536-4', reason: 'it tripped a canary', by: 'daemon', at: now - 12 * minute },
    verbs: ['abort', 'rollback', 'retry'],
  }),
  aRolloutStatus({
    id: 'offices-20261120-1',
    policy: 'offices',
    state: 'succeeded',
    createdAt: now - 2_880 * minute,
    endedAt: now - 2_680 * minute,
    reason: 'all 10 collectors run 19.536-4',
    counts: countsOf({ succeeded: 10 }),
    eta: null,
    api: null,
    waves: [aWaveStatus({ name: 'rest', size: 10, state: 'passed', counts: countsOf({ succeeded: 10 }) })],
    verbs: ['rollback'],
  }),
];

const soaked = { kind: 'soak', dueAt: null } as const;
const opened = { kind: 'upgrade', dueAt: null } as const;
const errors = { kind: 'gate', wave: 'early', gate: 'errors' } as const;
const worldNight: RolloutNight = {
  from: now - 95 * minute,
  to: null,
  lanes: [
    {
      ...{ wave: 'canary', state: 'passed' },
      spans: [
        { ...opened, from: now - 95 * minute, to: now - 55 * minute },
        { ...soaked, from: now - 55 * minute, to: now - 48 * minute },
      ],
    },
    {
      ...{ wave: 'early', state: 'passed' },
      spans: [
        { ...opened, from: now - 48 * minute, to: now - 20 * minute },
        { ...soaked, from: now - 20 * minute, to: now - 9 * minute },
      ],
    },
    {
      ...{ wave: 'rest', state: 'awaitingApproval' },
      spans: [{ kind: 'approval', from: now - 9 * minute, to: null, dueAt: null }],
    },
  ],
  bands: [
    { kind: 'window', from: now - 70 * minute, to: now - 55 * minute, reason: '', by: '' },
    { kind: 'freeze', from: now + 30 * minute, to: now + 300 * minute, reason: 'holidays', by: '' },
    {
      ...{ kind: 'hold', from: now - 80 * minute, to: now - 72 * minute, by: 'daemon' },
      reason: 'wave canary: 5 failures, <b>4</b> allowed',
    },
  ],
  marks: [
    {
      ...{ kind: 'event', at: now - 95 * minute, event: 'rollout.planned', wave: null },
      ...{ by: 'schedule', reason: '1215 collectors to 19.536-4' },
    },
    {
      ...{ kind: 'event', at: now - 72 * minute, event: 'rollout.resumed', wave: null },
      ...{ by: 'alice', reason: 'known fault of two machines' },
    },
    {
      ...{ ...errors, at: now - 40 * minute, verdict: 'missed', value: 0.97 },
      expect: { operator: '>=', value: 0.99 },
    },
    {
      ...{ ...errors, at: now - 36 * minute, verdict: 'met', value: 0.998 },
      expect: { operator: '>=', value: 0.99 },
    },
  ],
};

export const worldCourse: RolloutCourse = {
  burnUp: {
    isWhole: true,
    points: Array.from({ length: 60 }, (_, step) => ({
      at: now - 95 * minute + step * 1.6 * minute,
      succeeded: Math.min(180, step < 25 ? Math.floor(step * 2.5) : 61 + Math.floor((step - 25) * 3.7)),
      failed: Math.min(11, Math.floor(step / 5)),
      inFlight: step < 55 ? 20 : 0,
    })),
  },
  builds: {
    builds: ['19.536-4', '19.441-2', '19.402-1'],
    points: Array.from({ length: 60 }, (_, step) => {
      const done = Math.min(180, step * 4);
      return { at: now - 95 * minute + step * 1.6 * minute, counts: [done, 900 - done, 315] };
    }),
  },
  eventCounts: [
    { event: 'upgrade.succeeded', count: 180 },
    { event: 'upgrade.upgrading', count: 214 },
    { event: 'upgrade.failed', count: 9 },
    { event: 'wave.passed', count: 2 },
  ],
  strata: strata.map((label, index) => ({
    ...{ label, active: 0, waiting: 300, isHeld: false },
    size: 405,
    succeeded: [100, 60, 20][index] ?? 0,
    failed: [1, 6, 4][index] ?? 0,
  })),
  strataTotal: 3,
  night: worldNight,
  gates: [
    {
      wave: 'early',
      name: 'errors',
      expect: { operator: '>=', value: 0.99 },
      samples: Array.from({ length: 30 }, (_, step) => {
        const value = step < 6 ? 0.97 + step * 0.005 : 0.998;
        return { at: now - (40 - step) * minute, value, verdict: value >= 0.99 ? 'met' : 'missed' } as const;
      }),
    },
  ],
};

/** Newest first. */
export const worldAudit: readonly AuditEntry[] = [
  {
    ...{ at: now - 5 * minute, event: 'rollout.aborted', subject: 'production-20260302-1' },
    ...{ by: 'alice', reason: 'CHG-1042: the database is slow' },
  },
  {
    ...{
      at: now - 7 * minute,
      event: 'stratum.held',
      by: 'daemon',
      reason: '3 of 4 failed, 1 of 80 elsewhere',
    },
    subject: 'Windows Server 2019 / amd64 / 19.441-2 of staging-20261122-2',
  },
  { at: now - 8 * minute, event: 'collector.held', subject: '2 web-2', by: 'bob', reason: 'broken disk' },
  {
    ...{ at: now - 90 * minute, event: 'rollout.approved', subject: `${waiting} wave early` },
    ...{ by: 'alice', reason: 'the canary is healthy' },
  },
];

/** What two builds did; one of them has strata with failures. */
export const worldBuilds: readonly BuildRecord[] = [
  aBuildRecord({
    strata: [
      { label: 'Windows Server 2016', tried: 28, failed: { permanent: 12 }, returned: 16, medianMs: 90_000 },
      { label: 'Linux', tried: 4_182, failed: { retry: 6 }, returned: 4_176, medianMs: 60_000 },
    ],
  }),
  aBuildRecord({
    rolloutId: 'edge-20260201-1',
    build: '19.525-63',
    strata: [],
    others: { tried: 9, failed: {}, returned: 9, medianMs: 60_000 },
  }),
];

export const worldEvents = [
  aRolloutEvent({
    at: now - 9 * minute,
    event: 'wave.awaitingApproval',
    wave: 'rest',
    reason: 'its rule asks for it',
  }),
  aRolloutEvent({ at: now - 9 * minute, event: 'wave.passed', wave: 'early', reason: 'soaked for 30m' }),
  aRolloutEvent({
    at: now - 20 * minute,
    event: 'upgrade.failed',
    collectorId: 3,
    collectorName: 'web-<b>7</b>\u202e',
    reason: 'permission denied',
  }),
  aRolloutEvent({
    at: now - 60 * minute,
    event: 'rollout.resumed',
    by: 'alice',
    reason: 'known fault of two machines',
  }),
];

export const worldGroups: PlanGroups = {
  strata: strata.map((label) => ({ label, sizes: [1] })),
  lanes: [],
  domains: [{ label: 'fields.cluster = db-7', cap: 1 }],
};

/** A plan of so many collectors: every hundredth failed. */
export function manyUpgrades(count: number): readonly Upgrade[] {
  return Array.from({ length: count }, (_, index) => {
    const place = {
      ...{ collectorId: index + 1, collectorName: `web-${index + 1}.example.com`, order: index },
      ...{ wave: index < 70 ? 0 : 2, stratum: index % 3, domains: index === 7 ? [0] : [] },
    };
    const end = (words: string) => ({ endedAt: now - index, reason: because(words) });
    if (index % 100 === 1)
      return anEndedOne('failed', end('permission denied: cannot write /opt/collector'), place);
    if (index % 100 < 15) return anEndedOne('succeeded', end('on the build and alive'), place);
    return anUpgrade({ state: 'pending' }, place);
  });
}
