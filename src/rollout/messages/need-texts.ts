import { sumOf } from '../../base/grouping.ts';
import { showCount } from '../../base/singular-or-plural.ts';
import type { EpochMs } from '../../base/time.ts';
import type { PolicyNeed } from '../../contract/admin/policies.ts';
import type { RolloutStatus, ShownBlocker } from '../../contract/admin/rollout-status.ts';
import type { WaveStatus } from '../../contract/admin/status-parts.ts';
import { isWindowWait } from '../decision/blocker.ts';
import {
  advisesEndWithoutStrata,
  groupToHoldFirst,
  startableOf,
  strataToReleaseFirst,
} from '../decision/group-to-hold.ts';
import { startingIn } from './consequences.ts';
import { leftBehindText, stayTexts } from './exclusions.ts';
import { capitalized, counted, endText, sentence, stateText } from './sentences.ts';
import { heldName } from './stratum-reasons.ts';

/** @param hasSeconds for an instant that is seconds away */
type ShowAt = (at: EpochMs, hasSeconds?: boolean) => string;

/** The headline in words. */
export function headlineWords({
  kind,
  headline,
  endedAt,
  leftBehind,
}: Pick<RolloutStatus, 'kind' | 'headline' | 'endedAt' | 'leftBehind'>): string {
  if (endedAt === null) return stateText(headline.kind);
  return endText(kind, headline.kind, { leavesSome: leftBehind.length > 0 });
}

/** What a rollout that needs a person waits for, in a few words: `approve wave rest`, `it is held`. */
export function dueText(status: RolloutStatus): string {
  switch (status.headline.kind) {
    case 'needsApproval':
      if (status.state !== 'awaitingApproval') return `approve wave ${awaitedWave(status)?.name ?? ''}`;
      return status.buildHold === null ? 'approve the plan' : 'build held, approval due';
    case 'held':
      return 'it is held';
    case 'paused':
      return 'it is paused';
    case 'newerVersion':
      return 'a newer upwave wrote it';
    case 'otherAccount':
      return 'it belongs to another account';
    case 'policyMissing':
      return 'its policy is missing';
    default:
      return 'its rollback waits';
  }
}

/** What a policy without a running rollout waits for, in a few words. */
export const policyDueText: Readonly<Record<PolicyNeed['kind'], string>> = { start: 'start it again' };

/** What a rollout needs, or does, in whole sentences. */
export function needText(status: RolloutStatus, showAt: ShowAt): string {
  const { headline, state, endedAt, reason, reasonKind, api } = status;
  if (headline.needsPerson) return `${stopText(status)} ${adviceText(status)}`;
  if (headline.kind === 'waitsForService')
    return `Waits for the service. ${sentence(api?.outage?.reason ?? '')} It continues automatically.`;
  if (state === 'aborted') return sentence(`aborted ${reason}`);
  if (reasonKind === 'rollbackEnded') return sentence(`rolled back ${reason}`);
  return endedAt === null ? ongoingText(status, showAt) : endedText(status);
}

/** A rollback that has ended also shows who stays on the build, with those that it withdrew. */
function endedText({ id, kind, reason, counts, leftBehind, fromBuilds }: RolloutStatus): string {
  if (kind !== 'rollback') return sentence(reason);
  const withdrawn = { count: counts.withdrawn, reason: leftBehindText({ kind: 'withdrawn', rollback: id }) };
  const left = [...leftBehind, withdrawn].filter(({ count }) => count > 0);
  return [reason, ...stayTexts(fromBuilds[0] ?? '', left)].map(sentence).join(' ');
}

/** What stops it: `It is paused by alice: an incident.`, where somebody asked for it. */
function stopText(status: RolloutStatus): string {
  const { headline, reason, reasonKind } = status;
  const due = dueText(status);
  if (headline.kind !== 'held' && headline.kind !== 'paused') return sentence(due);
  return reasonKind === 'asked' ? sentence(`${due} ${reason}`) : `${sentence(due)} ${sentence(reason)}`;
}

/** What a person does about it. */
function adviceText(status: RolloutStatus): string {
  const { headline, planHash, buildHold, policy, rollbackId } = status;
  switch (headline.kind) {
    case 'needsApproval':
      if (status.state !== 'awaitingApproval') return waitingForWaveText(awaitedWave(status));
      return buildHold === null
        ? `Check plan ${planHash} first.`
        : `Release build ${buildHold.build} and approve plan ${planHash}, or abort.`;
    case 'held':
      return isCauseGone(status)
        ? `${capitalized(waysOn(status))}.`
        : `Check the cause, then ${waysOn(status)}.`;
    case 'paused':
      return 'Resume it to continue.';
    case 'newerVersion':
      return 'Upgrade this daemon.';
    case 'otherAccount':
      return 'Check the access id in the config.';
    case 'policyMissing':
      return `Put ${policy} back into the config, or abort.`;
    default:
      return `${rollbackId ?? 'It'} has stopped and needs you.`;
  }
}

function waitingForWaveText(wave: WaveStatus | undefined): string {
  if (wave === undefined) return '';
  const aside = wave.setAside === 0 ? '' : `, and ${showCount(wave.setAside)} are set aside`;
  return `${counted(startingIn(wave), 'collector waits', 'collectors wait')} for it${aside}.`;
}

function awaitedWave({ waves }: RolloutStatus) {
  return waves.find(({ state, waits }) => state === 'awaitingApproval' && waits !== null);
}

/** Its cause is gone: the build or strata are released, or failures are retried. */
function isCauseGone(status: RolloutStatus): boolean {
  if (status.reasonKind === 'buildHeld') return status.buildHold === null;
  return status.reasonKind === 'onlyHeldStrata' && startableOf(status) > 0;
}

function waysOn(status: RolloutStatus): string {
  const { verbs, buildHold } = status;
  const group = groupToHoldFirst(status);
  const ways = [
    ...(verbs.includes('resume') || buildHold !== null ? resumeWays(status) : []),
    ...(verbs.includes('abort') ? ['abort'] : []),
    ...(verbs.includes('rollback') ? ['roll back'] : []),
  ];
  const last = ways.pop() ?? 'wait';
  // A way of several words ends with a comma.
  const or = ways.some((way) => way.includes(' without ')) ? ', or' : ' or';
  const all = ways.length === 0 ? last : `${ways.join(', ')}${or} ${last}`;
  return group === undefined ? all : `hold ${group}. Then ${all}`;
}

/** A resume, with what is released before it. Where released collectors may fail again, the end without them comes first. */
function resumeWays(status: RolloutStatus): readonly string[] {
  const { buildHold } = status;
  const strata = strataToReleaseFirst(status).map(heldName);
  const strataText = strata.length === 1 ? strata.join() : `the ${strata.length} held strata`;
  if (buildHold === null && advisesEndWithoutStrata(status))
    return [
      `resume to end without ${strataText}`,
      `release ${strata.length === 1 ? 'it' : 'them'} and resume`,
    ];
  const released = [
    ...(strata.length === 0 ? [] : [strataText]),
    ...(buildHold === null ? [] : [`build ${buildHold.build}`]),
  ];
  return [released.length === 0 ? 'resume' : `release ${released.join(' and ')} and resume`];
}

/** The sentence for a rollout that continues, except for a part that a person has to settle. */
function ongoingText(status: RolloutStatus, showAt: ShowAt): string {
  const { headline, reason } = status;
  const named = namedBlocker(status);
  const isRunning = headline.kind === 'running';
  const held = heldPartText(status);
  if (held !== undefined && (named === undefined ? isRunning : named.kind === 'stratumHeld'))
    return `${held} The rest continues.`;
  if (named === undefined && isRunning) return 'Needs nothing.';
  const waits = named === undefined ? sentence(reason) : sentence(blockerUntilText(named, showAt));
  return `${held ?? 'Needs nothing.'} ${waits}`;
}

/** The part that waits for a release; undefined if there is none. */
function heldPartText({ blockers, strata }: RolloutStatus): string | undefined {
  const blocker = blockers.find(({ kind }) => kind === 'stratumHeld');
  const [one, ...others] = strata.held;
  if (blocker !== undefined) {
    if (one === undefined) return sentence(blocker.reason);
    return others.length === 0
      ? sentence(`${heldName(one.label)} is held`)
      : `${others.length + 1} strata are held.`;
  }
  const waiting = sumOf(strata.held, (each) => each.waiting);
  if (waiting === 0) return undefined;
  return `${counted(waiting, 'collector of held strata waits', 'collectors of held strata wait')} for a release.`;
}

/**
 * The blocker that the sentence of a running rollout names. What stops all of it comes first, such as a freeze. Then comes a held
 * stratum, because a person has to settle it.
 */
export function namedBlocker(status: RolloutStatus): ShownBlocker | undefined {
  const { headline, endedAt, blockers, strata } = status;
  if (headline.needsPerson || endedAt !== null || headline.kind === 'waitsForService') return undefined;
  const held = blockers.find(({ kind }) => kind === 'stratumHeld');
  const named = blockerOfAll(status) ?? held;
  if (named !== undefined) return named;
  const isHidden = headline.kind === 'running' && strata.held.some(({ waiting }) => waiting > 0);
  return isHidden ? undefined : blockers[0];
}

/** What keeps all collectors from starting that are not held; undefined where some may start soon. */
function blockerOfAll({ headline, blockers }: RolloutStatus): ShownBlocker | undefined {
  const others = blockers.filter(({ kind }) => kind !== 'stratumHeld');
  const closed = others.filter(({ kind }) => isWindowWait(kind));
  switch (headline.kind) {
    case 'waitsForWindow':
      return closed[0];
    case 'waitsForCollectors':
    case 'waitsForInventory':
      return others[0];
    default:
      // Upgrades that are in flight continue, but no other starts.
      return closed.length === others.length ? closed[0] : undefined;
  }
}

/** A blocker with the instant until which it lasts: `wave canary soaks, until 21:35`. */
export function blockerUntilText({ kind, reason, until }: ShownBlocker, showAt: ShowAt): string {
  if (until === null) return reason;
  return kind === 'pace'
    ? `${reason}; next start ${showAt(until, true)}`
    : `${reason}, until ${showAt(until)}`;
}
