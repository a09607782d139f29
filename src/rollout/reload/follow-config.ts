import type { EpochMs } from '../../base/time.ts';
import { dayMs } from '../../base/time-zone.ts';
import type { FollowedConfig } from '../../contract/admin/reload.ts';
import type { CalendarRules } from '../calendar/open-stretches.ts';
import type { RolloutFact } from '../decision/rollout-facts.ts';
import type { CapDomain, PlanGroups } from '../model/plan-groups.ts';
import { collectorZone, type FreezeRule, type Policy, type WaveRule } from '../model/policy.ts';
import type { Rollout } from '../model/rollout.ts';
import { rollbackPolicy } from '../planning/freeze-rollback.ts';
import { comparePolicies } from './policy-difference.ts';

/** Version of a policy's config in a daemon, which decides whether it may change the limits of a running rollout. */
export interface ConfigVersion {
  /** Increases with each config that is new to the installation. */
  readonly generation: number;
  /** No newer config was in use when this one was read: it applies despite its older generation, because of a revert. */
  readonly isReinstated: boolean;
}

/**
 * Applies the current limits to the frozen policy of a running rollout: windows, freezes, slots, caps, pace, failure limits
 * and `defer`. Plan and target stay frozen (P5, P6).
 */
export function withCurrentLimits(
  rollout: Pick<Rollout, 'kind' | 'policy' | 'plan'>,
  config: Policy,
): Omit<FollowedConfig, 'rollout'> & { readonly policy: Policy } {
  const { kind, policy: frozen } = rollout;
  const present = kind === 'rollback' ? rollbackPolicy(config) : config;
  const { pace: _frozenPace, ...withoutPace } = frozen;
  const limits = new Map(present.waves.map((wave) => [wave.name, wave]));
  const caps = new Map(present.maxInFlightPer.map(({ key, cap }) => [key, cap]));
  const policy: Policy = {
    ...withoutPace,
    ...(present.pace !== undefined && { pace: present.pace }),
    ...calendarFor(rollout, present),
    concurrency: present.concurrency,
    // A plan has domains only for the caps it was made with.
    maxInFlightPer: frozen.maxInFlightPer.map(({ key, cap }) => ({ key, cap: caps.get(key) ?? cap })),
    isolate: present.isolate,
    lostWeight: present.lostWeight,
    waves: frozen.waves.map((wave) => withLimitsOf(wave, limits.get(wave.name), rollout.plan.knowsZones)),
    defer: present.defer,
  };
  return {
    policy,
    followed: comparePolicies(frozen, policy),
    waiting: comparePolicies(policy, present),
  };
}

/** A frozen wave with the limits that the present config has for it. */
function withLimitsOf(frozen: WaveRule, present: WaveRule | undefined, knowsZones: boolean): WaveRule {
  if (present === undefined) return frozen;
  const { pace: _pace, windows: before, notBefore: _notBefore, ...wave } = frozen;
  const { pace, notBefore, maxFailures } = present;
  const isUnknown = !knowsZones && present.windows?.some(({ timeZone }) => timeZone === collectorZone);
  const windows = isUnknown === true ? before : present.windows;
  return {
    ...wave,
    maxFailures,
    ...(pace !== undefined && { pace }),
    ...(windows !== undefined && { windows }),
    ...(notBefore !== undefined && { notBefore }),
  };
}

/**
 * The fact by which a rollout adopts the current limits; undefined if it has them, or if this config must not change them:
 * a daemon with an older config must not revert the changes of a newer one.
 */
export function followConfig(
  rollout: Rollout,
  { config, version, at }: { readonly config: Policy; readonly version: ConfigVersion; readonly at: EpochMs },
): Extract<RolloutFact, { kind: 'policyChanged' }> | undefined {
  if (rollout.unreadable !== undefined) return undefined;
  if (!version.isReinstated && version.generation < rollout.config.generation) return undefined;
  const { policy, followed } = withCurrentLimits(rollout, config);
  if (followed.length === 0) return undefined;
  const { generation } = version;
  return { kind: 'policyChanged', at, policy, generation, differences: followed };
}

/** The groups of a plan with the policy's caps, which may have changed since the plan was frozen. */
export function withCurrentCaps(
  groups: PlanGroups,
  { maxInFlightPer }: Pick<Policy, 'maxInFlightPer'>,
): PlanGroups {
  // Without a rule for its key, a domain keeps the cap of the plan.
  const capOf = ({ label, cap }: CapDomain): number => {
    const rules = maxInFlightPer.filter(({ key }) => label.startsWith(`${key} = `));
    return rules.length === 0 ? cap : Math.min(...rules.map((rule) => rule.cap));
  };
  if (groups.domains.every((domain) => capOf(domain) === domain.cap)) return groups;
  return { ...groups, domains: groups.domains.map((domain) => ({ ...domain, cap: capOf(domain) })) };
}

/**
 * A plan made without `collector` time zones does not know its collectors' zones. New windows in `collector` time then
 * wait for the next rollout, and a freeze in `collector` time applies while it applies anywhere on Earth (P7).
 */
function calendarFor(rollout: Pick<Rollout, 'policy' | 'plan'>, present: Policy): CalendarRules {
  const { windows, freezes, timeZone } = present;
  if (rollout.plan.knowsZones) return { windows, freezes, timeZone };
  const isUnknown = windows.some((rule) => rule.timeZone === collectorZone);
  return {
    windows: isUnknown ? rollout.policy.windows : windows,
    freezes: freezes.map((rule) => (rule.timeZone === collectorZone ? everywhere(rule) : rule)),
    timeZone,
  };
}

// Local times range from UTC+14 to UTC-12.
const hourMs = dayMs / 24;
const firstClockMs = 14 * hourMs;
const lastClockMs = 12 * hourMs;

function everywhere({ from, to, reason }: FreezeRule): FreezeRule {
  return { from: shifted(from, -firstClockMs), to: shifted(to, lastClockMs), reason, timeZone: 'UTC' };
}

function shifted(local: string, byMs: number): string {
  return new Date(Date.parse(`${local}Z`) + byMs).toISOString().slice(0, 16);
}
