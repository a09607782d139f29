import type { DurationMs } from '../../base/time.ts';
import { usualSpread } from '../model/log-normal.ts';
import { collectorsPerPage, planReadings } from './reading-period.ts';

/** How often and at what cost ends are read while all slots of a wave are taken. */
export interface UsualReadings {
  /** Time between two readings. */
  readonly periodMs: DurationMs;
  readonly requestsPerMs: number;
}

/**
 * Predicts how a daemon will read which upgrades have ended: usually by the control list, or by polls of single tasks if
 * these need fewer requests. Estimates use it.
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
    (sum, { of: list, periodMs }) => sum + (list === 'tasks' ? count : pages) / periodMs,
    0,
  );
  return { periodMs: readings[0]?.periodMs ?? usualMs, requestsPerMs };
}
