import type { PlanExclusion } from '../../base/vocabulary.ts';
import type { NoTarget } from '../model/left-out.ts';
import type { Upgrade } from '../model/upgrade.ts';
import type { SelectionRule } from '../planning/selector.ts';
import { leftOutWords, noTargetWords } from './exclusions.ts';
import { type StoppedRollout, stoppedWords } from './scans.ts';
import { makeWords, stateWords } from './sentences.ts';
import { upgradeWords } from './upgrade-reasons.ts';

/** Why a collector is in no rollout of a policy. */
export type UnplannedReason =
  /** `rule`: the rule that does not match, or excludes it; null: unknown. */
  | { readonly kind: 'notSelected' | 'excluded'; readonly rule?: SelectionRule | null }
  /** The service is unavailable; `detail`: why, if known. */
  | { readonly kind: 'unknown'; readonly detail?: string }
  /** `stopped`: the last rollout, if it was stopped and only an operator starts the next one. */
  | {
      readonly kind: 'noTarget';
      readonly why: NoTarget;
      readonly stopped: StoppedRollout | undefined;
      readonly policy: string;
    }
  | { readonly kind: 'held'; readonly by: string; readonly words: string; readonly collectorId: number }
  | { readonly kind: 'aborted' | 'rolledBack'; readonly stopped: StoppedRollout; readonly policy: string }
  | { readonly kind: 'failedBefore'; readonly rollout: string; readonly upgrade: Upgrade | undefined }
  | { readonly kind: 'eligible' }
  | { readonly kind: 'gone' }
  | { readonly kind: OtherExclusion };
type OtherExclusion = Exclude<PlanExclusion, 'notSelected' | 'excluded' | 'held' | 'failedBefore'>;

export const unplannedWords = makeWords<UnplannedReason>({
  notSelected: ({ rule }) =>
    rule === null ? leftOutWords.notSelected : `not selected by ${ruleWords(rule)}`,
  excluded: ({ rule = null }) => (rule === null ? leftOutWords.excluded : `excluded by ${ruleWords(rule)}`),
  unknown: ({ detail }) =>
    detail === undefined
      ? 'not planned; the builds on offer are unknown at present'
      : `not planned; the reason is unavailable: ${detail}`,
  noTarget: ({ why, stopped, policy }) =>
    stopped === undefined ? noTargetWords(why) : `${noTargetWords(why)}; ${startWords(stopped, policy)}`,
  held: ({ by, words, collectorId }) => `held by ${by}: ${words}; ${releaseWords(collectorId)}`,
  aborted: ({ stopped, policy }) => startWords(stopped, policy),
  rolledBack: ({ stopped, policy }) => startWords(stopped, policy),
  failedBefore: ({ rollout, upgrade }) => {
    const why = upgrade === undefined ? '' : `: ${upgradeWords(upgrade)}`;
    return `${stateWords(upgrade?.progress.state ?? 'failed')} in ${rollout}${why}; \`upwave retry ${rollout}\` tries it again`;
  },
  eligible: () => 'eligible: the next scan plans it, if the service offers it the upgrade',
  gone: () => 'the service no longer has it',
  notAsked: () => leftOutWords.notAsked,
  atTarget: () => leftOutWords.atTarget,
  newer: () => leftOutWords.newer,
  claimed: () => leftOutWords.claimed,
  notAlive: () => leftOutWords.notAlive,
  notOffered: () => leftOutWords.notOffered,
});

function startWords(stopped: StoppedRollout, policy: string): string {
  return `${stoppedWords(stopped)}; start it with \`upwave start ${policy}\``;
}

/** A rule as in the config: `select.exclude[1] {name: "db-primary-*"}`. */
function ruleWords({ path, rule }: SelectionRule): string {
  return `${path} ${valueWords(rule)}`;
}

function valueWords(value: unknown): string {
  if (Array.isArray(value))
    return value.length === 1 ? valueWords(value[0]) : `[${value.map(valueWords).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, each]) => `${key}: ${valueWords(each)}`);
  return `{${entries.join(', ')}}`;
}

/** What an admitted or ended upgrade is doing now. */
export function progressWords(upgrade: Upgrade): string {
  const { progress } = upgrade;
  switch (progress.state) {
    case 'queued':
      if (progress.refused !== undefined)
        return `the service refused its upgrade, and the collector is polled for the cause: ${progress.refused.detail}`;
      if (progress.heartbeatAfter !== undefined)
        return 'has a slot, and starts when a new heartbeat shows that it is not restarting';
      return 'has a slot, and starts as soon as the request rate allows';
    case 'starting':
      return 'its create was sent, and the daemon waits or polls for the answer';
    case 'upgrading':
      return `is being upgraded; its ${progress.taskId === null ? 'build' : `task ${progress.taskId}`} is polled`;
    case 'verifying':
      return 'has been upgraded, and has to show the build and a heartbeat';
    case 'deferred':
      return `${upgradeWords(upgrade)}; waits for a change before it is withdrawn`;
    case 'retrying':
      return `will be retried: ${upgradeWords(upgrade)}`;
    default:
      return `${stateWords(progress.state)}: ${upgradeWords(upgrade)}`;
  }
}

/** Why a queued upgrade keeps its slot, whatever prevents its next create. */
export const unseenTaskWords =
  'has a slot, and is polled: an earlier create got no answer, so that its task may be running';

/** What follows a hold that withdrew a collector from a running rollout. */
export type AfterHold = 'release' | 'nextScan' | 'nextRollout';

/** What brings back a collector that was withdrawn because an operator held it. */
export function withdrawnByHoldWords(upgrade: Upgrade, next: AfterHold): string {
  const then = {
    release: releaseWords(upgrade.identity.collectorId),
    nextScan: 'it is released, and waits for the next scan',
    nextRollout: 'it is released, and waits for the next rollout',
  }[next];
  return `${progressWords(upgrade)}; ${then}`;
}

function releaseWords(collectorId: number): string {
  return `\`upwave release ${collectorId}\` makes it eligible again`;
}

/** What a blocked retry waits for, and the failure that it retries. */
export function waitingRetryWords(
  waitsFor: string,
  { isDue, upgrade }: { readonly isDue: boolean; readonly upgrade: Upgrade },
): string {
  return `${waitsFor}; it is ${isDue ? 'due for' : 'waiting for'} a retry: ${upgradeWords(upgrade)}`;
}

/** A collector has to be looked up at the service, and no request can be sent now. */
export function unaskedWords(outage: string): string {
  return `it has to be looked up at the service, and ${outage}`;
}
