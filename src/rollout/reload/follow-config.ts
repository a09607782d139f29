import type { EpochMs } from '../../base/time.ts';
import { dayMs } from '../../base/time-zone.ts';
import { knowsZones } from '../calendar/calendar.ts';
import type { CalendarRules } from '../calendar/open-stretches.ts';
import type { RolloutFact } from '../decision/rollout-facts.ts';
import type { CapDomain, PlanGroups } from '../model/plan-groups.ts';
import { collectorZone, type FreezeRule, type Policy } from '../model/policy.ts';
import type { Rollout } from '../model/rollout.ts';
import { rollbackPolicy } from '../planning/freeze-rollback.ts';
import { comparePolicies, type FollowedConfig } from './policy-difference.ts';

/** What the config of a daemon may say about a rollout's brakes. */
export interface ConfigWord {
  /** Of the config: grows with each one that is new to the installation. */
  readonly generation: number;
  /** The config was read when no newer one was in use, so it counts although its generation is older: it was rolled back. */
  readonly isTakenUp: boolean;
}

/** How a rollout stands to the present version of its policy. */
export interface PresentPolicy extends Omit<FollowedConfig, 'rollout'> {
  /** The policy as it is frozen, with the brakes of the present one. */
  readonly policy: Policy;
}

/**
 * Gives a running rollout the brakes of the present config: windows, freezes, slots, caps, failure limits and `defer`.
 * Its plan and its target stay as they are frozen (P5, P6).
 */
export function withPresentBrakes(
  rollout: Pick<Rollout, 'kind' | 'policy' | 'config'>,
  config: Policy,
): PresentPolicy {
  const { kind, policy: frozen } = rollout;
  const present = kind === 'rollback' ? rollbackPolicy(config) : config;
  const limits = new Map(present.waves.map(({ name, maxFailures }) => [name, maxFailures]));
  const caps = new Map(present.maxInFlightPer.map(({ key, cap }) => [key, cap]));
  const policy: Policy = {
    ...frozen,
    ...calendarFor(rollout, present),
    concurrency: present.concurrency,
    // A plan has the domains of its own caps alone.
    maxInFlightPer: frozen.maxInFlightPer.map(({ key, cap }) => ({ key, cap: caps.get(key) ?? cap })),
    isolateStrata: present.isolateStrata,
    isolateAttributes: present.isolateAttributes,
    lostWeight: present.lostWeight,
    waves: frozen.waves.map((wave) => ({ ...wave, maxFailures: limits.get(wave.name) ?? wave.maxFailures })),
    defer: present.defer,
  };
  return {
    policy,
    followed: comparePolicies(frozen, policy),
    waiting: comparePolicies(policy, present),
  };
}

/**
 * The fact by which a rollout follows the present config; undefined where it does already, or where this config must not
 * say so: a daemon with an older one must not take back what a newer one has changed.
 */
export function followConfig(
  rollout: Rollout,
  { config, word, at }: { readonly config: Policy; readonly word: ConfigWord; readonly at: EpochMs },
): Extract<RolloutFact, { kind: 'policyChanged' }> | undefined {
  if (rollout.unreadable !== undefined) return undefined;
  if (!word.isTakenUp && word.generation < (rollout.config?.generation ?? 0)) return undefined;
  const { policy, followed } = withPresentBrakes(rollout, config);
  if (followed.length === 0) return undefined;
  const { generation } = word;
  return { kind: 'policyChanged', at, policy, generation, differences: followed };
}

/** The groups of a plan with the caps of its policy, which may have changed since the plan was frozen. */
export function withPresentCaps(
  groups: PlanGroups,
  { maxInFlightPer }: Pick<Policy, 'maxInFlightPer'>,
): PlanGroups {
  // Without a rule of that name the cap of the plan stays.
  const capOf = ({ label, cap }: CapDomain): number => {
    const rules = maxInFlightPer.filter(({ key }) => label.startsWith(`${key} = `));
    return rules.length === 0 ? cap : Math.min(...rules.map((rule) => rule.cap));
  };
  if (groups.domains.every((domain) => capOf(domain) === domain.cap)) return groups;
  return { ...groups, domains: groups.domains.map((domain) => ({ ...domain, cap: capOf(domain) })) };
}

/**
 * Where the plan did not ask for the time zones of its collectors, it does not know them. Then windows by their zones
 * wait for the next rollout, and a freeze by their zones holds while it holds anywhere on Earth (P7).
 */
function calendarFor(rollout: Pick<Rollout, 'policy' | 'config'>, present: Policy): CalendarRules {
  const { windows, freezes, timeZone } = present;
  if (knowsZones(rollout)) return { windows, freezes, timeZone };
  const isUnknown = windows.some((rule) => rule.timeZone === collectorZone);
  return {
    windows: isUnknown ? rollout.policy.windows : windows,
    freezes: freezes.map((rule) => (rule.timeZone === collectorZone ? everywhere(rule) : rule)),
    timeZone,
  };
}

// The first clocks are 14 hours before UTC, the last ones 12 hours after it.
const hourMs = dayMs / 24;
const firstClockMs = 14 * hourMs;
const lastClockMs = 12 * hourMs;

function everywhere({ from, to, reason }: FreezeRule): FreezeRule {
  return { from: shifted(from, -firstClockMs), to: shifted(to, lastClockMs), reason, timeZone: 'UTC' };
}

function shifted(local: string, byMs: number): string {
  return new Date(Date.parse(`${local}Z`) + byMs).toISOString().slice(0, 16);
}
