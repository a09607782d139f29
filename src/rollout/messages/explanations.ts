import { type EpochMs, formatDuration } from '../../base/time.ts';
import type { PlanExclusion } from '../../base/vocabulary.ts';
import type { SeenCollector } from '../../contract/admin/collector-explanation.ts';
import type { WhyLeftBehind } from '../model/left-behind.ts';
import type { NoTarget } from '../model/left-out.ts';
import type { RolloutState } from '../model/rollout.ts';
import { reasonOf, type Upgrade } from '../model/upgrade.ts';
import type { SelectionRule } from '../planning/selector.ts';
import { leftOneText, leftOutText, noTargetText, ruleText } from './exclusions.ts';
import { type StoppedRollout, stoppedText } from './scans.ts';
import { makeText, stateText } from './sentences.ts';
import { byText, stratumHeldText } from './stratum-reasons.ts';
import { upgradeReasonText, upgradeText } from './upgrade-reasons.ts';

/** Why a collector is in no rollout of a policy. */
export type UnplannedReason =
  /** `rule`: the rule that does not match, or excludes it; null: unknown. */
  | { readonly kind: 'notSelected' | 'excluded'; readonly rule?: SelectionRule | null }
  /** The service is unavailable; `detail`: why, if known. */
  | { readonly kind: 'unknown'; readonly detail?: string; readonly held?: HeldReason | undefined }
  /** `stopped`: the last rollout, if it was stopped and only an operator starts the next one. */
  | {
      readonly kind: 'noTarget';
      readonly why: NoTarget;
      readonly stopped: StoppedRollout | undefined;
      readonly policy: string;
    }
  | ({ readonly kind: 'held' } & HeldReason)
  | { readonly kind: 'aborted' | 'rolledBack'; readonly stopped: StoppedRollout; readonly policy: string }
  | { readonly kind: 'failedBefore'; readonly rollout: string; readonly upgrade: Upgrade | undefined }
  /** A rollback left it on the build; `why`: undefined if the record does not tell. */
  | {
      readonly kind: 'stays';
      readonly rollout: string;
      readonly upgrade: Upgrade;
      readonly why: WhyLeftBehind | undefined;
    }
  /** `untriedIn`: the running rollout whose plan lacks its stratum; null: none. */
  | { readonly kind: 'eligible'; readonly untriedIn: string | null }
  | { readonly kind: 'gone' }
  | { readonly kind: OtherExclusion };
/** `group`: the held group that it belongs to; absent: it is held itself. `subject`: what `release` names, as an argument. */
interface HeldReason {
  readonly by: string;
  readonly words: string;
  readonly group?: string | undefined;
  readonly subject: string;
}
type OtherExclusion = Exclude<PlanExclusion, 'notSelected' | 'excluded' | 'held' | 'failedBefore'>;

export const unplannedText = makeText<UnplannedReason>({
  notSelected: ({ rule }) => (rule === null ? leftOutText.notSelected : `not selected by ${ruleText(rule)}`),
  excluded: ({ rule = null }) => (rule === null ? leftOutText.excluded : `excluded by ${ruleText(rule)}`),
  unknown: ({ detail, held }) => {
    if (detail === undefined) return 'not planned; the available builds are unknown now';
    return `${held === undefined ? '' : `${heldText(held)}; `}not planned, and why is unknown: ${detail}`;
  },
  noTarget: ({ why, stopped, policy }) =>
    stopped === undefined ? noTargetText(why) : `${noTargetText(why)}; ${startText(stopped, policy)}`,
  held: (held) => heldText(held),
  aborted: ({ stopped, policy }) => startText(stopped, policy),
  rolledBack: ({ stopped, policy }) => startText(stopped, policy),
  failedBefore: ({ rollout, upgrade }) => {
    const why = upgrade === undefined ? '' : `: ${upgradeText(upgrade)}`;
    return `${stateText(upgrade?.progress.state ?? 'failed')} in ${rollout}${why}; \`upwave retry ${rollout}\` tries it again`;
  },
  stays: ({ rollout, upgrade, why }) =>
    why === undefined
      ? `stays on this build: the rollback of ${rollout} left it; \`upwave status ${rollout}\` shows why`
      : staysText(upgrade, why),
  eligible: ({ untriedIn }) =>
    untriedIn === null
      ? 'eligible, if the service offers it the upgrade: waits for the next scan'
      : `eligible: the plan of ${untriedIn} lacks its stratum, so the next rollout tries it first`,
  gone: () => 'the service no longer has it',
  notInShare: () => `${leftOutText.notInShare} (select.share)`,
  notAsked: () => leftOutText.notAsked,
  atTarget: () => leftOutText.atTarget,
  newer: () => leftOutText.newer,
  claimed: () => leftOutText.claimed,
  notAlive: () => leftOutText.notAlive,
  notOffered: () => leftOutText.notOffered,
});

function heldText({ by, words, group, subject }: HeldReason): string {
  const held =
    group === undefined
      ? `held ${byText({ by, words })}`
      : stratumHeldText({ label: group, reason: { kind: 'asked', by, words } });
  return `${held}; ${releaseText(subject)}`;
}

/** Why a rollback leaves a collector on its build: `stays on 19.536-4: …`. */
export function staysText(
  { identity: { toBuild, fromBuild: had } }: Upgrade,
  { ended, ...why }: WhyLeftBehind,
): string {
  const end = ended === undefined ? '' : `: ${upgradeReasonText(ended)}`;
  return `stays on ${toBuild}: ${leftOneText({ ...why, had })}${end}`;
}

/** That a rollback takes a collector back which it has not planned yet. */
export function awaitsRollbackText(progress: string, { identity: { fromBuild } }: Upgrade): string {
  return `${progress}; goes back to ${fromBuild} once running upgrades have ended`;
}

/** What a rollback does, or did, with a collector: `the rollback of web-20261121-1 takes it back to 19.441-2: …`. */
export function takenBackText(
  original: string,
  { identity: { toBuild }, progress: { state } }: Upgrade,
  reason: string,
): string {
  const does = state === 'succeeded' ? 'took' : 'takes';
  return `the rollback of ${original} ${does} it back to ${toBuild}: ${reason}`;
}

/** What the service shows of a collector: `host web-1 · alive · last heartbeat 21:05 (40s ago)`. */
export function seenText(
  { hostName, alive, lastSeenAt }: SeenCollector,
  now: EpochMs,
  instantText: (at: EpochMs) => string,
): string {
  const facts = [
    hostName === '' ? '' : `host ${hostName}`,
    alive ? 'alive' : 'not alive',
    lastSeenAt === null ? 'no heartbeat known' : heartbeatText(lastSeenAt, now, instantText),
  ];
  return facts.filter((fact) => fact !== '').join(' · ');
}

/** Heartbeats have the clock of the service, which may be ahead of ours. */
function heartbeatText(at: EpochMs, now: EpochMs, instantText: (at: EpochMs) => string): string {
  const age = at > now ? `${formatDuration(at - now)} ahead of our clock` : `${formatDuration(now - at)} ago`;
  return `last heartbeat ${instantText(at)} (${age})`;
}

function startText(stopped: StoppedRollout, policy: string): string {
  return `${stoppedText(stopped)}; start it with \`upwave start ${policy}\``;
}

/** What an admitted or ended upgrade is doing now. */
export function progressText(upgrade: Upgrade): string {
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
      return `${upgradeText(upgrade)}; waits for a change before it is withdrawn`;
    case 'retrying':
      return `will be retried: ${upgradeText(upgrade)}`;
    default:
      // Its words name the state.
      if (reasonOf(upgrade)?.kind === 'unexplainedTwice') return upgradeText(upgrade);
      return `${stateText(progress.state)}: ${upgradeText(upgrade)}`;
  }
}

/**
 * What tries a failed collector again: commands that an operator copies. A held stratum or group is released first, and a
 * stopped rollout is resumed.
 */
export function failedNowText(
  failure: string,
  {
    held,
    retry,
    state,
  }: {
    readonly held: { readonly is: string; readonly release: string } | undefined;
    readonly retry: string;
    readonly state: RolloutState;
  },
): string {
  const after = state === 'held' || state === 'paused' ? ' after a resume' : '';
  if (held === undefined) return `${failure}; \`${retry}\` tries it again${after}`;
  return `${failure}; ${held.is}; \`${held.release}\` and \`${retry}\` try it again${after}`;
}

/** Why a queued upgrade keeps its slot, whatever prevents its next create. */
export const unseenTaskText =
  'has a slot, and is polled: an earlier create got no answer, so that its task may be running';

/** What follows a hold that withdrew a collector from a running rollout. */
export type AfterHold = 'release' | 'nextScan' | 'nextRollout';

/** What brings back a collector that was withdrawn because an operator held it. */
export function withdrawnByHoldText(upgrade: Upgrade, next: AfterHold): string {
  const then = {
    release: releaseText(String(upgrade.identity.collectorId)),
    nextScan: 'it is released, and waits for the next scan',
    nextRollout: 'it is released, and waits for the next rollout',
  }[next];
  return `${progressText(upgrade)}; ${then}`;
}

function releaseText(subject: string): string {
  return `\`upwave release ${subject}\` makes it eligible again`;
}

/** What a blocked retry waits for, and the failure that it retries. */
export function waitingRetryText(
  waitsFor: string,
  { isDue, upgrade }: { readonly isDue: boolean; readonly upgrade: Upgrade },
): string {
  return `${waitsFor}; it is ${isDue ? 'due for' : 'waiting for'} a retry: ${upgradeText(upgrade)}`;
}

/** The service is slower than a person waits. */
export function unansweredText(withinMs: number): string {
  return `the service gave no answer within ${formatDuration(withinMs)}`;
}

/** A collector has to be looked up at the service, and no request can be sent now. */
export function unaskedText(outage: string): string {
  return `it has to be looked up at the service, and ${outage}`;
}
