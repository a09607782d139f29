import { describe, expect, it } from 'vitest';
import type { RolloutEvent } from '../../../../src/rollout/model/events.ts';
import { describeCourse } from '../../../../src/rollout/status/describe-course.ts';
import { aPrometheusGate, aStatus, aWebhookGate } from '../../../support/builders/gate-builders.ts';
import { someGroups, startedAt } from '../../../support/builders.ts';
import { aRolloutEvent } from '../../../support/fake-operations.ts';
import { aHeldStratum, aViewOf } from '../../../support/view-cases.ts';

const hour = 3_600_000;
const now = startedAt + 10 * hour;
const upgrade = (event: RolloutEvent['event'], collectorId: number, hours: number) =>
  aRolloutEvent({ event, collectorId, at: startedAt + hours * hour });
const newestFirst = (...events: readonly RolloutEvent[]) => events.toReversed();

const view = aViewOf({ waves: [{ counts: { succeeded: 2, failed: 1, upgrading: 1, pending: 6 } }] });
const events = newestFirst(
  upgrade('upgrade.upgrading', 1, 1),
  upgrade('upgrade.upgrading', 2, 1),
  upgrade('upgrade.succeeded', 1, 3),
  upgrade('upgrade.retrying', 2, 3),
  upgrade('upgrade.upgrading', 2, 4),
  upgrade('upgrade.failed', 2, 5),
  upgrade('upgrade.upgrading', 3, 5),
  upgrade('upgrade.succeeded', 3, 6),
  upgrade('upgrade.upgrading', 4, 7),
);

/** The level at so many hours after the beginning. */
const levelAt = (hours: number, read = { events, isWhole: true }) => {
  const { points } = describeCourse(view, read, now).burnUp;
  const at = startedAt + hours * hour;
  const { succeeded, failed, inFlight } = points.findLast((point) => point.at <= at) ?? {};
  return [succeeded, failed, inFlight];
};

describe('the course of a rollout', () => {
  it('shows how many upgrades had succeeded, failed and were in flight at each instant', () => {
    expect([0.5, 2, 3.5, 4.5, 5.5, 6.5, 10].map((hours) => levelAt(hours))).toEqual([
      [0, 0, 0],
      [0, 0, 2],
      [1, 0, 0],
      [1, 0, 1],
      [1, 1, 1],
      [2, 1, 0],
      [2, 1, 1],
    ]);
    expect(describeCourse(view, { events, isWhole: true }, now).burnUp.points).toHaveLength(120);
  });

  it('starts with the oldest kept event of an upgrade, and counts an end without a start as in flight before', () => {
    const planned = { ...upgrade('upgrade.queued', 1, 0), event: 'rollout.planned' as const };
    const kept = { events: [...events.slice(0, 2), planned], isWhole: false };
    const { burnUp } = describeCourse(view, kept, now);
    expect([burnUp.isWhole, burnUp.points[0]?.at]).toEqual([false, startedAt + 6 * hour]);
    expect(levelAt(6.5, kept)).toEqual([2, 1, 0]);
  });

  const plan = { fromBuilds: ['19.441-2', '19.402-1'], fromCounts: [4, 3] };
  const succeeded = (collectorId: number, hours: number, fromBuild: string) => ({
    ...upgrade('upgrade.succeeded', collectorId, hours),
    fromBuild,
  });

  it('shows at each instant which builds the planned collectors ran', () => {
    const of = aViewOf({ rollout: { plan }, waves: [{ counts: { succeeded: 3, pending: 7 } }] });
    const read = newestFirst(
      succeeded(1, 1, '19.441-2'),
      succeeded(2, 2, '19.402-1'),
      succeeded(3, 3, '19.363-1'),
    );
    const { builds } = describeCourse(of, { events: read, isWhole: true }, now);
    expect(builds?.builds).toEqual(['19.536-4', '19.441-2', '19.402-1', 'other builds']);
    const at = (hours: number) =>
      builds?.points.findLast((point) => point.at <= startedAt + hours * hour)?.counts;
    expect([0.5, 1.5, 2.5, 10].map(at)).toEqual([
      [0, 4, 3, 3],
      [1, 3, 3, 3],
      [2, 3, 2, 3],
      [3, 3, 2, 2],
    ]);
    expect(describeCourse(of, { events: read, isWhole: false }, now).builds).toBeNull();
  });

  it('counts collectors that a rollback returned as back on their build', () => {
    const of = aViewOf({
      rollout: { plan, endedAt: startedAt + 4 * hour },
      waves: [{ counts: { rolledBack: 2, succeeded: 1, failed: 1, pending: 3 } }],
    });
    const read = newestFirst(
      succeeded(1, 1, '19.441-2'),
      succeeded(2, 1, '19.402-1'),
      succeeded(3, 1, '19.402-1'),
      upgrade('upgrade.rolledBack', 1, 4),
      upgrade('upgrade.rolledBack', 2, 4),
      // It failed, and had the build of the target unseen.
      upgrade('upgrade.rolledBack', 4, 4),
    );
    const { points } = describeCourse(of, { events: read, isWhole: true }, now).builds ?? {};
    expect([points?.at(-2)?.counts, points?.at(-1)?.counts]).toEqual([
      [3, 3, 1],
      [1, 4, 2],
    ]);
  });

  it('shows each collector as back when the rollback returned it, not when all were', () => {
    const of = aViewOf({ rollout: { plan }, waves: [{ counts: { succeeded: 2, pending: 5 } }] });
    const read = newestFirst(succeeded(1, 1, '19.441-2'), succeeded(2, 1, '19.402-1'));
    const ofRollback = newestFirst(succeeded(2, 4, '19.536-4'), succeeded(1, 6, '19.536-4'));
    const { points } = describeCourse(of, { events: read, ofRollback, isWhole: true }, now).builds ?? {};
    const at = (hours: number) => points?.findLast((point) => point.at <= startedAt + hours * hour)?.counts;
    expect([3.5, 4.5, 6.5].map(at)).toEqual([
      [2, 3, 2],
      [1, 3, 3],
      [0, 4, 3],
    ]);
  });

  it('lists the strata with the most failures first, over all waves, and marks held ones', () => {
    const filled = ['Linux', 'AIX'].map((label) => ({ label, sizes: [2, 3] }));
    // Its members were moved to a held group.
    const groups = someGroups({ strata: [...filled, { label: 'Windows', sizes: [0, 0] }] });
    const some = { wave: 0, waiting: 1, active: 0, weight: 1 };
    const strata = [
      { ...some, stratum: 0, succeeded: 2, failed: 0 },
      { ...some, stratum: 1, succeeded: 1, failed: 1 },
      { ...some, stratum: 1, wave: 1, succeeded: 0, failed: 1 },
    ];
    const of = aViewOf({
      groups,
      strata,
      rollout: { strata: { held: [aHeldStratum(1, { label: 'AIX' })] } },
    });
    expect(describeCourse(of, { events: [], isWhole: true }, now).strata).toEqual([
      { label: 'AIX', size: 5, succeeded: 1, failed: 2, active: 0, waiting: 2, isHeld: true },
      { label: 'Linux', size: 5, succeeded: 2, failed: 0, active: 0, waiting: 1, isHeld: false },
    ]);
  });

  it('counts kept events by kind, the most frequent first', () => {
    const { eventCounts } = describeCourse(view, { events, isWhole: true }, now);
    expect(eventCounts[0]).toEqual({ event: 'upgrade.upgrading', count: 5 });
  });

  it('shows the answers of each gate over time, beside its expectation', () => {
    const sample = { at: startedAt, verdict: 'met', value: 0.998 } as const;
    const rule = { gates: [aPrometheusGate(), aWebhookGate()] };
    const wave = { gates: [aStatus({ samples: [sample] }), aStatus()] };
    const of = aViewOf({ waves: [{ name: 'canary', rule, wave }] });
    expect(describeCourse(of, { events: [], isWhole: true }, now).gates).toEqual([
      { wave: 'canary', name: 'prometheus', expect: { operator: '>=', value: 0.99 }, samples: [sample] },
    ]);
  });
});
