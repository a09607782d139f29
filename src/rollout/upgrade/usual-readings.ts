import type { DurationMs } from '../../base/time.ts';
import { usualSpread } from '../model/log-normal.ts';
import { collectorsPerPage, planReadings } from './reading-period.ts';

/** What the lists cost that are read while a wave's slots are filled. */
export interface UsualReadings {
  /** How often the list is read that shows ends. */
  readonly periodMs: DurationMs;
  /** Of all lists. */
  readonly requestsPerMs: number;
}

/**
 * How a daemon will read lists, before it does: the control list shows ends as a rule. Estimates and rehearsals go by it.
 * @returns undefined where single polls cost less
 */
export function usualReadings(wave: {
  readonly upgrades: number;
  readonly slots: number;
  readonly fleetSize: number;
  /** How long an upgrade usually takes. */
  readonly usualMs: DurationMs;
  readonly requestsPerSecond: number;
}): UsualReadings | undefined {
  const { upgrades, slots, fleetSize, usualMs, requestsPerSecond } = wave;
  const count = Math.min(upgrades, slots);
  const running = new Map([['target', { count, endsPerMs: count / usualSpread(usualMs).meanMs }]]);
  const load = { running, queued: 0, leaving: 0, verifying: 0, isSlotAwaited: upgrades > slots };
  const limits = { requestsPerSecond, controlBuild: 'control' };
  const readings = planReadings([{ ...load, fleetSize, usualMs }], limits);
  const ends = readings.find(({ of }) => of === 'control');
  if (ends === undefined) return undefined;
  const pages = Math.max(1, Math.ceil(fleetSize / collectorsPerPage));
  const requestsPerMs = readings.reduce((sum, { periodMs }) => sum + pages / periodMs, 0);
  return { periodMs: ends.periodMs, requestsPerMs };
}
