import { assertNever } from '../../base/assert.ts';
import type { DurationMs } from '../../base/time.ts';
import { writeExpectation } from '../../rollout/messages/gates.ts';
import {
  formatAmount,
  type GateRule,
  isSearchGate,
  type Policy,
  type SearchGateRule,
  type WaveRule,
  type WindowRule,
} from '../../rollout/model/policy.ts';
import { weekDays } from '../schema/calendar-schemas.ts';
import { maskedGate } from './masked-urls.ts';

/** A policy in the form of the file, with all defaults. */
export function effectivePolicy(policy: Policy): object {
  const { select, target, windows, maxInFlightPer, waves, upgrade, retry, defer, ...asWritten } = policy;
  const { share, ...selectors } = select;
  const { minimumAgeMs, ...targetRule } = target;
  const { initialMs, maxMs, ...backoff } = retry.backoff;
  return {
    ...asWritten,
    select: { ...selectors, ...(share !== undefined && { share: `${share}%` }) },
    target: { ...targetRule, minimumAge: writeDuration(minimumAgeMs) },
    windows: windows.map(effectiveWindow),
    maxInFlightPer: Object.fromEntries(maxInFlightPer.map(({ key, cap }) => [key, cap])),
    waves: waves.map(effectiveWave),
    upgrade: {
      deadline: writeDuration(upgrade.deadlineMs),
      verifyWithin: writeDuration(upgrade.verifyWithinMs),
      expect: writeDuration(upgrade.expectMs),
    },
    retry: {
      ...retry,
      backoff: { ...backoff, initial: writeDuration(initialMs), max: writeDuration(maxMs) },
    },
    defer: { upTo: writeDuration(defer.upToMs) },
  };
}

/** A window as a file writes it. */
export function effectiveWindow({ days, fromMinute, toMinute, timeZone }: WindowRule): {
  readonly days: readonly string[];
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
} {
  return {
    days: days.flatMap((day) => weekDays[day - 1] ?? []),
    from: writeTimeOfDay(fromMinute),
    to: writeTimeOfDay(toMinute),
    timeZone,
  };
}

function writeTimeOfDay(minuteOfDay: number): string {
  const [hours, minutes] = [Math.floor(minuteOfDay / 60), minuteOfDay % 60];
  return [hours, minutes].map((part) => String(part).padStart(2, '0')).join(':');
}

function effectiveWave({ size, soakMs, maxFailures, gates, windows, ...asWritten }: WaveRule): object {
  return {
    ...asWritten,
    ...(windows !== undefined && { windows: windows.map(effectiveWindow) }),
    size: formatAmount(size),
    soak: writeDuration(soakMs),
    maxFailures: formatAmount(maxFailures),
    gates: gates.map(effectiveGate),
  };
}

function effectiveGate(gate: GateRule): object {
  const masked = maskedGate(gate);
  if (isSearchGate(masked)) return effectiveSearchGate(masked);
  const { name, dryRun, ...rule } = masked;
  const place = 'urlFile' in rule ? { urlFile: rule.urlFile } : { url: rule.url };
  const { tokenFile, caFile } = rule;
  const asking = { ...place, every: writeDuration(rule.everyMs), tokenFile, caFile };
  switch (rule.kind) {
    case 'webhook':
      return { name, dryRun, webhook: asking };
    case 'prometheus': {
      const { query, forMs } = rule;
      const expect = writeExpectation(rule.expect);
      return { name, dryRun, prometheus: { ...asking, query, expect, for: writeDuration(forMs) } };
    }
    default:
      return assertNever(rule);
  }
}

function effectiveSearchGate(gate: SearchGateRule): object {
  const { name, dryRun } = gate;
  const every = writeDuration(gate.everyMs);
  switch (gate.kind) {
    case 'search': {
      const { query, fromMs } = gate;
      const expect = writeExpectation(gate.expect);
      return { name, dryRun, search: { query, expect, from: writeDuration(fromMs), every } };
    }
    case 'dataFlow': {
      const { windowMs, comparedToMs } = gate;
      const atLeast = `${Number((gate.atLeast * 100).toFixed(6))}%`;
      const flow = { window: writeDuration(windowMs), atLeast, comparedTo: writeDuration(comparedToMs) };
      return { name, dryRun, dataFlow: { ...flow, every } };
    }
    default:
      return assertNever(gate);
  }
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** A duration for the config, exact to the millisecond: in the largest unit without a remainder. */
export function writeDuration(durationMs: DurationMs): string {
  if (durationMs === 0) return '0s';
  const unit = units.find(([, unitMs]) => durationMs % unitMs === 0);
  return unit === undefined ? `${durationMs}ms` : `${durationMs / unit[1]}${unit[0]}`;
}
