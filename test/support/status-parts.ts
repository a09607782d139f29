import type { RolloutNight } from '../../src/contract/admin/night.ts';
import type { PolicyStatus } from '../../src/contract/admin/policies.ts';
import type { RolloutStatus } from '../../src/contract/admin/rollout-status.ts';
import type { WaveStatus } from '../../src/contract/admin/status-parts.ts';
import { startedAt } from './builders.ts';

type Strata = RolloutStatus['strata'];
type HeldStratum = Strata['held'][number];
type GateStatus = WaveStatus['gates'][number];
type Cause = RolloutStatus['causes'][number]['causes'][number];

export function aHeldStratum(changes: Partial<HeldStratum> = {}): HeldStratum {
  return {
    label: 'Linux / amd64 / 19.441-2',
    kind: 'outlier',
    reason: '3 of 4 failed, 1 of 80 elsewhere',
    by: 'daemon',
    at: startedAt,
    waiting: 7,
    ...changes,
  };
}

/** Strata of which some are held. */
export function strataHolding(...held: readonly HeldStratum[]): Strata {
  return { total: 3, held, uncovered: { count: 0, labels: [] } };
}

export function aGateStatus(changes: Partial<GateStatus> = {}): GateStatus {
  return {
    name: 'errors',
    verdict: 'pass',
    words: 'errors 0.93',
    value: 0.93,
    unanswered: 0,
    dryRun: false,
    ...changes,
  };
}

/** Five that failed alike, in six strata. */
export function aCause(changes: Partial<Cause> = {}): Cause {
  return {
    kind: 'failed',
    failureClass: null,
    text: 'permission denied',
    count: 5,
    strata: [{ label: 'Linux / amd64 / 19.441-2', count: 3 }],
    otherStrata: { count: 2, strata: 5 },
    names: ['dev-web-224'],
    ...changes,
  };
}

/** The status of a policy that was never scanned. */
export function aPolicyStatus(changes: Partial<PolicyStatus> = {}): PolicyStatus {
  return {
    policy: 'production',
    lastScan: null,
    lastGoodAt: null,
    nextScanAt: startedAt + 900_000,
    config: { kind: 'agreed', others: 0 },
    ...changes,
  };
}

/** A rollout that has just begun. */
export function aNight(changes: Partial<RolloutNight> = {}): RolloutNight {
  return { from: startedAt, to: null, lanes: [], bands: [], marks: [], ...changes };
}
