import { etaUnknownWords } from '../../rollout/status/eta-unknown-words.ts';
import type { Rollout, Wave } from './api.ts';
import { span, timeWords } from './time.tsx';

/** Who has to act comes first, then what went wrong, then what runs, then what is over. */
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
  const { headline, reason, planHash, blockers } = rollout;
  const [first] = blockers;
  switch (headline.kind) {
    case 'needsApproval': {
      const wave = rollout.waves.find(({ state }) => state === 'awaitingApproval');
      if (rollout.state === 'awaitingApproval') return `Check plan ${planHash}, then approve it.`;
      return `Approve wave ${wave?.name ?? ''}: ${wave?.size ?? 0} collectors wait for it.`;
    }
    case 'held':
      return `Held. ${sentence(first?.reason ?? reason)} Check the cause, then resume, abort or roll back.`;
    case 'paused':
      return `Paused. ${sentence(reason)} Resume it to go on.`;
    case 'newerVersion':
      return 'A newer upwave has written it. Upgrade this daemon.';
    case 'otherAccount':
      return 'It belongs to another account. Check the access id in the config.';
    case 'waitsForService':
      return `Waits for the service. ${sentence(rollout.api?.standstill?.reason ?? '')} It continues by itself.`;
    case 'running':
    case 'rollingBack':
      return first === undefined ? 'Needs nothing.' : `Needs nothing. ${sentence(first.reason)}`;
    default:
      if (rollout.endedAt !== null) return sentence(reason);
      return `Needs nothing. ${sentence(first?.reason ?? reason)}`;
  }
}

function sentence(text: string): string {
  const capital = `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  return /[.!?]$/.test(text) || text === '' ? capital : `${capital}.`;
}

/** The wave that a person wants to hear of: the first that has not passed, or else the last. */
export function currentWave({
  waves,
}: Rollout): { readonly wave: Wave; readonly number: number } | undefined {
  const index = waves.findIndex(({ state }) => state !== 'passed');
  const number = index < 0 ? waves.length : index + 1;
  const wave = waves[number - 1];
  return wave === undefined ? undefined : { wave, number };
}

/** When it ends, as far as that is known. */
export function etaWords(rollout: Rollout): string {
  const { eta, endedAt } = rollout;
  if (endedAt !== null) return `ended ${timeWords(endedAt)}`;
  if (eta === null) return 'unknown';
  switch (eta.kind) {
    case 'at':
      return `about ${timeWords(eta.at)} ± ${span(eta.plusMinusMs)}`;
    case 'afterApproval':
      return `${span(eta.durationMs)} after approval`;
    case 'atTheLatest':
      return `${timeWords(eta.at)} at the latest`;
    case 'unknown':
      return `unknown: ${etaUnknownWords[eta.reason]}`;
  }
}
