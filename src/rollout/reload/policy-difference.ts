import { formatDuration } from '../../base/time.ts';
import {
  type FreezeRule,
  formatAmount,
  type GateRule,
  isolationOf,
  type Policy,
  type PolicyDifference,
  type Selector,
  type WaveRule,
  type WindowRule,
} from '../model/policy.ts';

/** What a policy says otherwise than before; `added` and `removed` for a whole policy. */
export interface PolicyChange {
  readonly policy: string;
  readonly kind: 'added' | 'removed' | 'changed';
  readonly differences: readonly PolicyDifference[];
}

/** How a running rollout stands to the present config. */
export interface FollowedConfig {
  readonly rollout: string;
  /** Followed from now on. */
  readonly followed: readonly PolicyDifference[];
  /** Left to the next rollout, because they would change the plan or the target, or because the plan lacks what they need. */
  readonly waiting: readonly PolicyDifference[];
}

/** What a reload changes. */
export interface ReloadChanges {
  readonly policies: readonly PolicyChange[];
  readonly settings: readonly string[];
  readonly needsRestart: readonly string[];
  /** The running rollouts, as they stand to the config now; in a preview, `followed` is what they would follow at once. */
  readonly rollouts: readonly FollowedConfig[];
  /** What a person should know beside it. */
  readonly warnings: readonly string[];
}

/** What differs between two configs, in the order of the file. */
export function compareConfigs(before: readonly Policy[], after: readonly Policy[]): readonly PolicyChange[] {
  const names = new Set([...before, ...after].map(({ name }) => name));
  return [...names].flatMap((policy): readonly PolicyChange[] => {
    const [old, present] = [before, after].map((policies) => policies.find(({ name }) => name === policy));
    if (old === undefined) return [{ policy, kind: 'added', differences: [] }];
    if (present === undefined) return [{ policy, kind: 'removed', differences: [] }];
    const differences = comparePolicies(old, present);
    return differences.length === 0 ? [] : [{ policy, kind: 'changed', differences }];
  });
}

/** What differs between two versions of one policy, in the order of the file. */
export function comparePolicies(before: Policy, after: Policy): readonly PolicyDifference[] {
  const [from, to] = [textsOf(before), textsOf(after)];
  const keys = new Set([...from.keys(), ...to.keys()]);
  return [...keys].flatMap((key) => {
    const [old, present] = [from.get(key), to.get(key)];
    // Texts may be cut or leave a gate's content out; what is compared is the whole.
    if (old?.compared === present?.compared) return [];
    const takesEffect = isBrake(key) ? 'now' : 'nextRollout';
    return [{ key, from: old?.shown ?? '', to: present?.shown ?? '', takesEffect } as const];
  });
}

const brakeKeys: ReadonlySet<string> = new Set([
  'windows',
  'freezes',
  'timeZone',
  'concurrency',
  'isolate',
  'lostWeight',
  'defer.upTo',
]);

/** Whether a running rollout follows this key of the present config (DESIGN §4, Reload). */
function isBrake(key: string): boolean {
  return (
    brakeKeys.has(key) ||
    key.startsWith('maxInFlightPer.') ||
    (key.startsWith('waves.') && key.endsWith('.maxFailures'))
  );
}

interface Text {
  readonly compared: string;
  readonly shown: string;
}

function textsOf(policy: Policy): ReadonlyMap<string, Text> {
  const { select, target, waves, upgrade, retry, defer, maxInFlightPer, windows, freezes, ...others } =
    policy;
  const { isolateStrata: _strata, isolateAttributes: _attributes, ...rest } = others;
  const texts = new Map<string, Text>();
  const set = (key: string, shown: string, compared = shown) =>
    texts.set(key, { compared, shown: shown.length > shownMax ? `${shown.slice(0, shownMax)}…` : shown });
  for (const [key, value] of Object.entries(rest)) if (key !== 'name') set(key, plain(value));
  set('isolate', isolationOf(policy));
  set('select.include', selectorText(select.include));
  set('select.exclude', select.exclude.map(selectorText).join(' or '));
  const { minimumAgeMs, ...targetRule } = target;
  for (const [key, value] of Object.entries(targetRule)) set(`target.${key}`, plain(value));
  set('target.minimumAge', formatDuration(minimumAgeMs), String(minimumAgeMs));
  set('windows', windows.map(windowText).join(', '));
  set('freezes', freezes.map(freezeText).join(', '));
  for (const { key, cap } of maxInFlightPer) set(`maxInFlightPer.${key}`, String(cap));
  // Their order is part of the plan, too.
  set('waves', waves.map(({ name }) => name).join(', '));
  for (const wave of waves) for (const [key, text] of waveTexts(wave)) set(key, text.shown, text.compared);
  for (const [key, ms] of Object.entries(upgrade))
    set(`upgrade.${key.replace(/Ms$/, '')}`, formatDuration(ms), String(ms));
  set('retry', plain(retry));
  set('defer.upTo', formatDuration(defer.upToMs), String(defer.upToMs));
  return texts;
}

const shownMax = 200;

function waveTexts({ name, size, match, soakMs, maxFailures, approval, gates }: WaveRule) {
  const of = (key: string, shown: string, compared = shown) =>
    [`waves.${name}.${key}`, { shown, compared }] as const;
  return [
    of('size', formatAmount(size)),
    ...(match === undefined ? [] : [of('match', selectorText(match))]),
    of('soak', formatDuration(soakMs), String(soakMs)),
    of('maxFailures', formatAmount(maxFailures)),
    of('approval', String(approval)),
    of('gates', gates.map(gateText).join(', '), plain(gates)),
  ];
}

/** Its URL may be a secret (P12). */
function gateText({ name, kind, dryRun }: GateRule): string {
  return `${name} (${kind}${dryRun ? ', dry run' : ''})`;
}

function selectorText(selector: Selector): string {
  return Object.entries(selector)
    .map(([key, value]) => `${key}: ${plain(value)}`)
    .join(', ');
}

const dayNames = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

function windowText({ days, fromMinute, toMinute, timeZone }: WindowRule): string {
  const named = days.length === dayNames.length ? 'daily' : days.map((day) => dayNames[day - 1]).join(' ');
  return `${named} ${timeOfDay(fromMinute)}–${timeOfDay(toMinute)} ${timeZone}`;
}

function timeOfDay(minute: number): string {
  return [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, '0')).join(':');
}

function freezeText({ from, to, reason, timeZone }: FreezeRule): string {
  return `${from}–${to} ${timeZone}${reason === '' ? '' : ` (${reason})`}`;
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
