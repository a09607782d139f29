import { formatDuration } from '../../base/time.ts';
import type { PolicyChange, PolicyDifference } from '../../contract/admin/reload.ts';
import {
  type FreezeRule,
  formatAmount,
  type GateRule,
  type MessageRule,
  type PaceRule,
  type Policy,
  type Selector,
  type WaveRule,
  type WindowRule,
} from '../model/policy.ts';

/** Compares two configs, in the order of the file. */
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

/** Compares two versions of one policy, key by key. */
export function comparePolicies(before: Policy, after: Policy): readonly PolicyDifference[] {
  // Every daemon compares each second, nearly always without a difference.
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  const [from, to] = [textsOf(before), textsOf(after)];
  const keys = new Set([...from.keys(), ...to.keys()]);
  return [...keys].flatMap((key) => {
    const [old, present] = [from.get(key), to.get(key)];
    if (old?.compared === present?.compared) return [];
    const takesEffect = isLimit(key) ? 'now' : 'nextRollout';
    return [{ key, from: old?.shown ?? '', to: present?.shown ?? '', takesEffect } as const];
  });
}

const calendarKeys: ReadonlySet<string> = new Set(['windows', 'freezes', 'timeZone']);

const waveLimits: readonly string[] = ['maxFailures', 'pace', 'windows', 'notBefore'];

const limitKeys: ReadonlySet<string> = new Set([
  ...calendarKeys,
  'concurrency',
  'pace',
  'isolate',
  'lostWeight',
  'defer.upTo',
]);

/** Whether upgrades may start at other times than before. */
export function changesCalendar(differences: readonly PolicyDifference[]): boolean {
  return differences.some(
    ({ key }) => calendarKeys.has(key) || (isOfWave(key) && ['windows', 'notBefore'].includes(lastPart(key))),
  );
}

/** Whether a running rollout adopts changes of this key (DESIGN §4, Reload). */
function isLimit(key: string): boolean {
  return (
    limitKeys.has(key) ||
    key.startsWith('maxInFlightPer.') ||
    (isOfWave(key) && waveLimits.includes(lastPart(key)))
  );
}

function isOfWave(key: string): boolean {
  return key.startsWith('waves.');
}

function lastPart(key: string): string {
  return key.slice(key.lastIndexOf('.') + 1);
}

/** A value of a policy: its path in the file, its text, and the exact value where the text is shortened. */
type Setting = readonly [key: string, shown: string, compared?: unknown];

const shownMax = 200;

function textsOf(policy: Policy) {
  return new Map(
    settingsOf(policy).map(([key, text, compared = text]) => [
      key,
      {
        shown: text.length > shownMax ? `${text.slice(0, shownMax)}…` : text,
        compared: JSON.stringify(compared),
      },
    ]),
  );
}

function settingsOf(policy: Policy): readonly Setting[] {
  const { select, target, waves, upgrade, retry, defer, maxInFlightPer, windows, freezes, pace, ...others } =
    policy;
  const { name: _name, messageRules, ...plain } = others;
  return [
    ...nestedSettings(plain),
    ['select.include', selectorText(select.include), select.include],
    ['select.exclude', select.exclude.map(selectorText).join('; '), select.exclude],
    ...(select.share === undefined ? [] : [['select.share', `${select.share}%`] as const]),
    ...nestedSettings({ target }),
    ['windows', windows.map(windowText).join(', ')],
    ['freezes', freezes.map(freezeText).join(', ')],
    ...maxInFlightPer.map(({ key, cap }): Setting => [`maxInFlightPer.${key}`, String(cap)]),
    ...(pace === undefined ? [] : [['pace', paceText(pace), pace] as const]),
    // The order of waves is part of the plan.
    ['waves', waves.map(({ name }) => name).join(', ')],
    ...waves.flatMap(waveSettings),
    ...nestedSettings({ upgrade, retry, defer }),
    ['messageRules', messageRules.map(messageRuleText).join('; '), messageRules],
  ];
}

/** The values of nested objects, each under its path in the file: `retry.backoff.initial`. */
function nestedSettings(values: object, path = ''): readonly Setting[] {
  return Object.entries(values).flatMap(([name, value]: [string, unknown]): readonly Setting[] => {
    const key = `${path}${name}`;
    if (Array.isArray(value)) return [[key, value.join(', '), value]];
    if (typeof value === 'object' && value !== null) return nestedSettings(value, `${key}.`);
    const isDuration = typeof value === 'number' && name.endsWith('Ms');
    return [isDuration ? [key.slice(0, -'Ms'.length), formatDuration(value), value] : [key, String(value)]];
  });
}

/** `200 an hour`, or `20 an hour, ×2 after 50, up to 200`. */
export function paceText({ perHour, from, factor, after }: PaceRule): string {
  return from < perHour
    ? `${from} an hour, ×${factor} after ${after}, up to ${perHour}`
    : `${perHour} an hour`;
}

function waveSettings({ name, size, match, soakMs, maxFailures, approval, gates, ...limits }: WaveRule) {
  const { pace, windows, notBefore } = limits;
  const setting = (key: string, text: string, compared?: unknown): Setting => [
    `waves.${name}.${key}`,
    text,
    compared,
  ];
  return [
    setting('size', formatAmount(size)),
    ...(match === undefined ? [] : [setting('match', selectorText(match), match)]),
    setting('soak', formatDuration(soakMs), soakMs),
    setting('maxFailures', formatAmount(maxFailures)),
    setting('approval', String(approval)),
    setting('gates', gates.map(gateText).join(', '), gates),
    ...(pace === undefined ? [] : [setting('pace', paceText(pace), pace)]),
    ...(windows === undefined ? [] : [setting('windows', windows.map(windowText).join(', '))]),
    ...(notBefore === undefined ? [] : [setting('notBefore', notBefore)]),
  ];
}

/** Leaves out the URL, which may be a secret (P12). */
function gateText({ name, kind, dryRun }: GateRule): string {
  return `${name} (${kind}${dryRun ? ', dry run' : ''})`;
}

/** `osName: Linux* or Windows*, fields.rack: r7`. */
function selectorText({ fields = {}, ...rest }: Selector): string {
  const ofFields = Object.entries(fields).map(([field, values]) => [`fields.${field}`, values] as const);
  return [...Object.entries(rest), ...ofFields]
    .map(([key, value]) => `${key}: ${Array.isArray(value) ? value.join(' or ') : String(value)}`)
    .join(', ');
}

/** `disk full or no space: retryLater`. */
function messageRuleText({ words, class: kind }: MessageRule): string {
  return `${words.join(' or ')}: ${kind}`;
}

const dayNames = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** `Mon Tue 22:00–05:00 UTC`. */
export function windowText({ days, fromMinute, toMinute, timeZone }: WindowRule): string {
  const named = days.length === dayNames.length ? 'daily' : days.map((day) => dayNames[day - 1]).join(' ');
  return `${named} ${timeOfDay(fromMinute)}–${timeOfDay(toMinute)} ${timeZone}`;
}

function timeOfDay(minute: number): string {
  return [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, '0')).join(':');
}

function freezeText({ from, to, reason, timeZone }: FreezeRule): string {
  return `${from}–${to} ${timeZone}${reason === '' ? '' : ` (${reason})`}`;
}
