import type { JSX } from 'preact';

/** How something looks: the style has a colour for each. */
export type Tone = 'good' | 'busy' | 'late' | 'bad' | 'rest';

/** States of rollouts, waves, upgrades and gates, headlines, and the last words of events. */
const tones: Readonly<Record<Exclude<Tone, 'rest'>, readonly string[]>> = {
  good: ['succeeded', 'passed', 'pass', 'trusted', 'released'],
  busy: [
    'running',
    'open',
    'soaking',
    'resumed',
    'opened',
    'approved',
    'reopened',
    'upgrading',
    'queued',
    'starting',
    'verifying',
  ],
  late: [
    'awaitingApproval',
    'needsApproval',
    'waitsForWindow',
    'waitsForCollectors',
    'paused',
    'rollingBack',
    'rolledBack',
    'drifted',
    'soakSkipped',
    'hold',
    'inconclusive',
    'retrying',
    'deferred',
    'notAlive',
    'inUpgrade',
    'doubted',
  ],
  bad: [
    'newerVersion',
    'otherAccount',
    'waitsForService',
    'waitsForInventory',
    'held',
    'finishedWithFailures',
    'aborted',
    'fail',
    'failed',
    'timedOut',
    'unconfirmed',
  ],
};
const toneByName = new Map(
  Object.entries(tones).flatMap(([tone, names]) => names.map((name): [string, string] => [name, tone])),
);

export function toneOf(name: string): string {
  return toneByName.get(name) ?? 'rest';
}

/** `timedOut` → `timed out` */
function wordsOf(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}

export function Badge({ name }: { readonly name: string }): JSX.Element {
  return <span class={`badge ${toneOf(name)}`}>{wordsOf(name)}</span>;
}

/** `1 collector`, `2 collectors`, `1,215 collectors` */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}
