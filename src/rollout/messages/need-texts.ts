import { sumOf } from '../../base/grouping.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { groupToHoldFirst } from '../model/group-to-hold.ts';
import { counted, sentence, stateText } from './sentences.ts';

/** The headline in words. An ended rollback does not pose as an upgrade: it has rolled back all, or not all. */
export function headlineWords({
  kind,
  headline,
  endedAt,
}: Pick<RolloutStatus, 'kind' | 'headline' | 'endedAt'>): string {
  const words = stateText(headline.kind);
  if (kind !== 'rollback' || endedAt === null) return words;
  if (headline.kind === 'succeeded') return 'rolled back';
  return headline.kind === 'finishedWithFailures' ? 'rolled back, not all' : `rollback ${words}`;
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

/** What a rollout needs, or does, in whole sentences. */
export function needText(status: RolloutStatus): string {
  const { headline, state, endedAt, reason, api } = status;
  if (headline.needsPerson) return `${sentence(dueText(status))} ${adviceText(status)}`;
  if (headline.kind === 'waitsForService')
    return `Waits for the service. ${sentence(api?.outage?.reason ?? '')} It continues automatically.`;
  if (state === 'aborted') return sentence(`aborted ${reason}`);
  return endedAt === null ? ongoingText(status) : sentence(reason);
}

/** What a person does about it. */
function adviceText(status: RolloutStatus): string {
  const { headline, reason, planHash, buildHold, policy, rollbackId } = status;
  switch (headline.kind) {
    case 'needsApproval':
      if (status.state !== 'awaitingApproval')
        return `${counted(awaitedWave(status)?.size ?? 0, 'collector waits', 'collectors wait')} for it.`;
      return buildHold === null
        ? `Check plan ${planHash} first.`
        : `Release build ${buildHold.build} and approve plan ${planHash}, or abort.`;
    case 'held':
      return `${sentence(reason)} Check the cause, then ${waysOn(status)}.`;
    case 'paused':
      return `${sentence(reason)} Resume it to continue.`;
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

function awaitedWave({ waves }: RolloutStatus) {
  return waves.find(({ state, waits }) => state === 'awaitingApproval' && waits !== null);
}

function waysOn(status: RolloutStatus): string {
  const { verbs, buildHold } = status;
  const group = groupToHoldFirst(status);
  const resume = buildHold === null ? 'resume' : `release build ${buildHold.build} and resume`;
  const ways = [
    ...(group === undefined ? [] : [`hold ${group}`]),
    ...(verbs.includes('resume') || buildHold !== null ? [resume] : []),
    ...(verbs.includes('abort') ? ['abort'] : []),
    ...(verbs.includes('rollback') ? ['roll back'] : []),
  ];
  const last = ways.pop() ?? 'wait';
  return ways.length === 0 ? last : `${ways.join(', ')} or ${last}`;
}

/** The sentence for a rollout that continues, except for a part that a person has to settle. */
function ongoingText({ headline, blockers, reason, strata }: RolloutStatus): string {
  const [first] = blockers;
  const settled = blockers.find(({ kind }) => kind === 'stratumHeld');
  if (settled !== undefined) return `${sentence(settled.reason)} The rest continues.`;
  const held = sumOf(strata.held, ({ waiting }) => waiting);
  if (held > 0) {
    const waits = counted(held, 'collector of held strata waits', 'collectors of held strata wait');
    const rest = headline.kind === 'running' ? 'The rest continues.' : sentence(first?.reason ?? reason);
    return `${waits} for a release. ${rest}`;
  }
  if (headline.kind !== 'running') return `Needs nothing. ${sentence(first?.reason ?? reason)}`;
  return first === undefined ? 'Needs nothing.' : `Needs nothing. ${sentence(first.reason)}`;
}
