import type { DurationMs } from '../../base/time.ts';
import { usualSpread } from '../model/log-normal.ts';
import { collectorsPerPage, planReadings } from './reading-period.ts';

/** What readings cost while a wave's slots are filled. */
export interface UsualReadings {
  /** How often it is read which upgrades have ended. */
  readonly periodMs: DurationMs;
  readonly requestsPerMs: number;
}

/**
 * How a daemon will read which upgrades have ended, before it does: the control list shows it as a rule, and polls of single
 * tasks where they cost less. Estimates and rehearsals go by it.
 */
export function usualReadings(wave: {
  readonly upgrades: number;
  readonly slots: number;
  readonly fleetSize: number;
  /** How long an upgrade usually takes. */
  readonly usualMs: DurationMs;
  readonly requestsPerSecond: number;
}): UsualReadings {
  const { upgrades, slots, fleetSize, usualMs, requestsPerSecond } = wave;
  const count = Math.min(upgrades, slots);
  const running = new Map([['target', { count, endsPerMs: count / usualSpread(usualMs).meanMs }]]);
  const load = { running, queued: 0, leaving: 0, verifying: 0, isSlotAwaited: upgrades > slots };
  const limits = { requestsPerSecond, controlBuild: 'control' };
  const readings = planReadings([{ ...load, fleetSize, usualMs }], limits);
  const pages = Math.max(1, Math.ceil(fleetSize / collectorsPerPage));
  const requestsPerMs = readings.reduce(
    (sum, { of, periodMs }) => sum + (of === 'tasks' ? count : pages) / periodMs,
    0,
  );
  return { periodMs: readings[0]?.periodMs ?? usualMs, requestsPerMs };
}
