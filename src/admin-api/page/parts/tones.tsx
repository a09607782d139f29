import { singularOrPlural } from '../../../base/singular-or-plural.ts';
import { stateText } from '../../../rollout/messages/sentences.ts';

/** Tones. The style sheet has a colour for each. */
export type Tone = 'good' | 'busy' | 'late' | 'bad' | 'rest';

/** Tones of states of rollouts, waves, upgrades and gates, of headlines, and of the last parts of event names. */
const tones: Readonly<Record<Exclude<Tone, 'rest'>, readonly string[]>> = {
  good: ['succeeded', 'passed', 'pass', 'trusted', 'released'],
  busy: [
    ...['running', 'open', 'soaking', 'resumed', 'opened', 'approved', 'reopened', 'upgrading'],
    ...['queued', 'starting', 'verifying'],
  ],
  late: [
    ...['awaitingApproval', 'needsApproval', 'waitsForWindow', 'waitsForCollectors', 'paused'],
    ...['rollingBack', 'rolledBack', 'drifted', 'soakSkipped', 'hold', 'inconclusive', 'retrying'],
    ...['deferred', 'notAlive', 'inUpgrade', 'implausible'],
  ],
  bad: [
    ...['newerVersion', 'otherAccount', 'policyMissing', 'waitsForService', 'waitsForInventory'],
    ...['held', 'finishedWithFailures', 'aborted', 'fail', 'failed', 'timedOut', 'unconfirmed'],
  ],
};
const toneByName = new Map(
  Object.entries(tones).flatMap(([tone, names]) => names.map((name): [string, string] => [name, tone])),
);

export function toneOf(name: string): string {
  return toneByName.get(name) ?? 'rest';
}

export function Badge({ name }: { readonly name: string }) {
  return <span class={`badge ${toneOf(name)}`}>{stateText(name)}</span>;
}

/** `1,023` */
export function numberText(count: number): string {
  return count.toLocaleString('en');
}

/** `1 collector`, `2 collectors`, `1,215 collectors`; with `many` also `1 collector waits`, `2 collectors wait`. */
export function countText(count: number, one: string, many?: string): string {
  return `${numberText(count)} ${singularOrPlural(count, one, many)}`;
}
