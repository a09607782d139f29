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
    ...[
      'newerVersion',
      'otherAccount',
      'policyMissing',
      'startNeeded',
      'waitsForService',
      'waitsForInventory',
    ],
    ...['held', 'finishedWithFailures', 'aborted', 'fail', 'failed', 'timedOut', 'unconfirmed'],
  ],
};
const toneByName = new Map(
  Object.entries(tones).flatMap(([tone, names]) => names.map((name): [string, string] => [name, tone])),
);

export function toneOf(name: string): string {
  return toneByName.get(name) ?? 'rest';
}

/** @param words where they are not those of the name */
export function Badge({ name, words = stateText(name) }: { readonly name: string; readonly words?: string }) {
  return <span class={`badge ${toneOf(name)}`}>{words}</span>;
}
