import type { Policy } from '../../../src/rollout/model/policy.ts';

/** What a careful operator writes (config/production.yaml), with the daemon's defaults for the rest. */
export const carefulPolicy: Policy = {
  name: 'blast',
  select: { include: {}, exclude: [] },
  target: { version: 'latest', allowDowngrade: false, minimumAgeMs: 0, supersede: false },
  schedule: '*/15 * * * *',
  timeZone: 'UTC',
  concurrency: 50,
  maxInFlightPer: [],
  spreadBy: ['osName', 'osArch', 'collectorVersion'],
  isolate: 'strata',
  approval: false,
  windows: [],
  freezes: [],
  onBreach: 'hold',
  waves: [
    {
      name: 'canary',
      size: { kind: 'perStratum', count: 1 },
      soakMs: 30 * 60_000,
      maxFailures: { kind: 'count', count: 0 },
      approval: false,
      gates: [],
    },
    {
      name: 'early',
      size: { kind: 'percent', percent: 10 },
      soakMs: 60 * 60_000,
      maxFailures: { kind: 'percent', percent: 1 },
      approval: false,
      gates: [],
    },
    {
      name: 'rest',
      size: { kind: 'percent', percent: 100 },
      soakMs: 0,
      maxFailures: { kind: 'percent', percent: 2 },
      approval: false,
      gates: [],
    },
  ],
  lostWeight: 3,
  upgrade: { deadlineMs: 35 * 60_000, verifyWithinMs: 10 * 60_000, expectMs: 5 * 60_000 },
  retry: {
    maxAttempts: 3,
    backoff: { initialMs: 2 * 60_000, factor: 3, maxMs: 3_600_000, jitter: 0.2 },
  },
  defer: { upToMs: 12 * 3_600_000 },
  messageRules: [],
};

/**
 * The same where one upgrade in a hundred fails at random, so that limits leave room for that, and a group that shares
 * what explains the failures is held alone.
 */
export const attributesPolicy: Policy = {
  ...carefulPolicy,
  isolate: 'attributes',
  waves: carefulPolicy.waves.map((wave, index) =>
    index === 0 ? wave : { ...wave, maxFailures: { kind: 'percent', percent: 6 } },
  ),
};
