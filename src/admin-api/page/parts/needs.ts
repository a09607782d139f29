import { formatDuration } from '../../../base/time.ts';
import { etaUnknownWords } from '../../../rollout/messages/eta.ts';
import { sentence, stateWords } from '../../../rollout/messages/sentences.ts';
import type { Rollout, Wave } from './call.ts';
import { failedOf } from './progress.tsx';
import { timeWords } from './time.tsx';

/** Order: rollouts that need a person, then those that wait for the service, then running ones, then ended ones. */
export function byNeed(a: Rollout | undefined, b: Rollout | undefined): number {
  return rankOf(a) - rankOf(b);
}

function rankOf(rollout: Rollout | undefined): number {
  if (rollout === undefined) return 4;
  if (rollout.headline.needsPerson) return rollout.headline.kind === 'needsApproval' ? 1 : 0;
  if (rollout.headline.kind === 'waitsForService' || rollout.headline.kind === 'waitsForInventory') return 2;
  return rollout.endedAt === null ? 3 : 5;
}

/** What the rollout needs, or does, in one sentence. */
export function needWords(rollout: Rollout): string {
  const { headline, reason, planHash, buildHold } = rollout;
  switch (headline.kind) {
    case 'needsApproval': {
      const wave = rollout.waves.find(({ state }) => state === 'awaitingApproval');
      if (rollout.state === 'awaitingApproval' && buildHold !== null)
        return `Build ${buildHold.build} is held. Release it and approve the plan, or abort.`;
      if (rollout.state === 'awaitingApproval') return `Check plan ${planHash}, then approve it.`;
      return `Approve wave ${wave?.name ?? ''}: ${wave?.size ?? 0} collectors wait for it.`;
    }
    case 'held':
      return `Held. ${sentence(reason)} Check the cause, then ${waysOn(rollout)}.`;
    case 'paused':
      return `Paused. ${sentence(reason)} Resume it to continue.`;
    case 'newerVersion':
      return 'A newer upwave wrote it. Upgrade this daemon.';
    case 'otherAccount':
      return 'It belongs to another account. Check the access id in the config.';
    case 'policyMissing':
      return `The config has no policy called ${rollout.policy}. Put it back, or abort.`;
    case 'waitsForService':
      return `Waits for the service. ${sentence(rollout.api?.outage?.reason ?? '')} It continues by itself.`;
    default:
      if (rollout.state === 'aborted') return sentence(`aborted ${reason}`);
      if (rollout.endedAt !== null) return sentence(reason);
      return ongoingWords(rollout);
  }
}

function waysOn({ verbs, buildHold }: Rollout): string {
  const resume = buildHold === null ? 'resume' : `release build ${buildHold.build} and resume`;
  const ways = [
    ...(verbs.includes('resume') || buildHold !== null ? [resume] : []),
    ...(verbs.includes('abort') ? ['abort'] : []),
    ...(verbs.includes('rollback') ? ['roll back'] : []),
  ];
  const last = ways.pop() ?? 'wait';
  return ways.length === 0 ? last : `${ways.join(', ')} or ${last}`;
}

/** The sentence for a rollout that continues, except for a part that a person has to settle. */
function ongoingWords({ headline, blockers, reason, rollbackId }: Rollout): string {
  const [first] = blockers;
  if (headline.needsPerson) return `Its rollback ${rollbackId ?? ''} has stopped and waits for you.`;
  const settled = blockers.find(({ kind }) => kind === 'stratumHeld');
  if (settled !== undefined) return `${sentence(settled.reason)} The rest continues.`;
  if (headline.kind !== 'running') return `Needs nothing. ${sentence(first?.reason ?? reason)}`;
  return first === undefined ? 'Needs nothing.' : `Needs nothing. ${sentence(first.reason)}`;
}

/** The wave to name: the first that has not passed, else the last. */
export function currentWave({
  waves,
}: Rollout): { readonly wave: Wave; readonly number: number } | undefined {
  const index = waves.findIndex(({ state }) => state !== 'passed');
  const number = index < 0 ? waves.length : index + 1;
  const wave = waves[number - 1];
  return wave === undefined ? undefined : { wave, number };
}

/** When the rollout ends, as far as that is known. */
export function etaWords(rollout: Rollout): string {
  const { eta, endedAt } = rollout;
  if (endedAt !== null) return `ended ${timeWords(endedAt)}`;
  if (eta === null) return 'unknown';
  switch (eta.kind) {
    case 'at':
      return `about ${timeWords(eta.at)} ± ${formatDuration(eta.plusMinusMs)}`;
    case 'afterApproval':
      return `${formatDuration(eta.durationMs)} after approval`;
    case 'atTheLatest':
      return eta.othersAt === null
        ? `${timeWords(eta.at)} at the latest`
        : `about ${timeWords(eta.othersAt)}; deferred collectors at the latest ${timeWords(eta.at)}`;
    case 'unknown':
      return `unknown: ${etaUnknownWords[eta.reason]}`;
  }
}

/** The title of the tab: that of the rollout that needs a person, else of the newest. */
export function titleOf(all: readonly Rollout[]): string {
  const first = all.find(({ headline }) => headline.needsPerson) ?? all[0];
  if (first === undefined) return 'upwave';
  const percent = Math.floor((100 * first.counts.succeeded) / Math.max(1, first.planned));
  const failed = failedOf(first.counts);
  return `${stateWords(first.headline.kind)} ${percent} %${failed > 0 ? `, ${failed} failed` : ''} · upwave`;
}
