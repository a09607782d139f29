import { formatDuration } from '../../base/time.ts';
import { serviceLimits } from '../../contract/collector-management/limits.ts';
import { counted } from '../../rollout/messages/sentences.ts';
import type { Policy, Selector } from '../../rollout/model/policy.ts';
import type { Disturbance } from '../world/virtual-budget.ts';
import type { Approval, Break, DurationsFrom, Installed, UpAgain, WhatIf } from '../world/what-if.ts';
import { clockText, type ShownRehearsal } from './rehearsal-text.ts';
import { replayedText } from './replay-text.ts';

/** What a rehearsal does not simulate. */
export function notPlayedText({ whatIf, others }: Pick<ShownRehearsal, 'whatIf' | 'others'>): string {
  return [
    ...(whatIf.upAgain === undefined ? ['collectors that come up again'] : []),
    ...(whatIf.installed === undefined ? ['new collectors'] : []),
    'collectors that leave',
    ...(others === null ? ['other policies'] : []),
  ].join(', ');
}

// An answer of the service may be as old as a heartbeat, and the next one comes after another.
const heardAfterMs = 2 * serviceLimits.heartbeatMs;

/** A risk of a policy for a service at a higher speed, as that of the first guide is: with a real one no collector returns in time. */
export function tooQuickText({ name, upgrade }: Pick<Policy, 'name' | 'upgrade'>): string | undefined {
  const { verifyWithinMs } = upgrade;
  if (verifyWithinMs >= heardAfterMs) return undefined;
  return `${name} waits ${formatDuration(verifyWithinMs)} for a collector to return (upgrade.verifyWithin), and a heartbeat comes every ${formatDuration(serviceLimits.heartbeatMs)}; so upgrades that went well count as lost`;
}

/** The assumptions of the rehearsal: about upgrades, the build, the service, gates and people. */
export function assumedText(result: ShownRehearsal): string {
  const { whatIf, replay } = result;
  const gates = Object.entries(whatIf.gates).filter(([, word]) => word !== 'pass');
  return [
    replay === undefined ? courseText(whatIf) : replayedText(replay),
    ...whatIf.breaks.map(breakText),
    ...whatIf.disturbances.map((each) => disturbanceText(each, result)),
    ...gates.map(([name, word]) => `gate ${name}: ${word}`),
    ...(whatIf.approval.kind === 'atOnce' ? [] : [approvalText(whatIf.approval)]),
    ...(whatIf.upAgain === undefined ? [] : [upAgainText(whatIf.upAgain)]),
    ...(whatIf.installed === undefined ? [] : [installedText(whatIf.installed)]),
    ...othersTexts(result),
  ].join('; ');
}

function courseText({ durations, durationsFrom: from, failures }: WhatIf): string {
  const { medianMs, p95Ms } = durations;
  const source = from === undefined ? '' : `, ${durationsFromText(from)}`;
  return `an upgrade takes ${formatDuration(medianMs)} (p95 ${formatDuration(p95Ms)})${source}; ${percent(failures.once)} fail once, ${percent(failures.always)} always`;
}

function durationsFromText(from: DurationsFrom): string {
  if (from.kind === 'expect') return 'by upgrade.expect of the policy';
  if (from.kind === 'file') return 'by the what-if file';
  const { id, strata, strataTotal } = from;
  const lead = `as in ${id}`;
  if (strata === 0) return lead;
  return `${lead}, where ${strata} of ${counted(strataTotal, 'stratum', 'strata')} have durations of their own`;
}

function breakText({ match, share, how, afterMs }: Break): string {
  const whom = match === undefined ? 'the collectors' : matchText(match);
  const what = {
    fails: 'fail',
    neverReturns: 'never return',
    dies: `die ${formatDuration(afterMs)} after the upgrade`,
  }[how];
  return `${share >= 1 ? 'all' : percent(share)} of ${whom} ${what}`;
}

/** `osName=Windows*, fields.rack=r7` */
function matchText({ fields = {}, ...keys }: Selector): string {
  const all = [
    ...Object.entries(keys),
    ...Object.entries(fields).map(([name, values]) => [`fields.${name}`, values] as const),
  ];
  return all.map(([key, values]) => `${key}=${[values].flat().join('|')}`).join(', ');
}

function disturbanceText({ from, to, requestsPerSecond }: Disturbance, result: ShownRehearsal): string {
  const what = requestsPerSecond === 0 ? 'no answer' : `${requestsPerSecond} requests/s`;
  return `${what} from ${clockText(from, result)} to ${clockText(to, result)}`;
}

function approvalText(approval: Exclude<Approval, { kind: 'atOnce' }>): string {
  if (approval.kind === 'never') return 'nobody approves';
  const twoDigits = (value: number) => String(value).padStart(2, '0');
  return `approval at ${twoDigits(Math.floor(approval.minute / 60))}:${twoDigits(approval.minute % 60)}`;
}

function upAgainText({ share, withinMs }: UpAgain): string {
  const whom = share >= 1 ? 'all' : percent(share);
  return `${whom} of the collectors that are down come up again within ${formatDuration(withinMs)}`;
}

function installedText({ count, withinMs }: Installed): string {
  return `${counted(count, 'collector is', 'collectors are')} installed within ${formatDuration(withinMs)}`;
}

// More would hide the other assumptions.
const othersShownMax = 5;

function othersTexts(result: ShownRehearsal): readonly string[] {
  const others = result.others ?? [];
  const shown = others.slice(0, othersShownMax).map(({ policy, targetBuild, planned, startsAt }) => {
    const at = clockText(startsAt, result);
    return `${policy} starts at ${at}: ${counted(planned, 'collector')} → ${targetBuild}`;
  });
  const more = others.length - shown.length;
  return more === 0 ? shown : [...shown, `${counted(more, 'other policy', 'other policies')} as well`];
}

function percent(share: number): string {
  return `${Math.round(share * 1_000) / 10}%`;
}
