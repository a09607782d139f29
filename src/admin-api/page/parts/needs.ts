import { endOnlyText, etaText } from '../../../rollout/messages/eta-texts.ts';
import { headlineWords } from '../../../rollout/messages/need-texts.ts';
import type { Policies, Rollout, Wave } from './call.ts';
import { failedOf } from './progress.tsx';
import { clockText } from './time.tsx';

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
export function endText({ eta, endedAt }: Rollout, form: 'whole' | 'short' = 'whole'): string {
  if (endedAt !== null) return `${form === 'whole' ? 'ended ' : ''}${clockText(endedAt)}`;
  if (eta === null) return 'unknown';
  return form === 'whole' ? etaText(eta, clockText) : endOnlyText(eta, clockText);
}

/** The title of the tab: that of the rollout or policy that needs a person, else of the newest rollout. */
export function titleOf(all: readonly Rollout[], scans: Policies | undefined): string {
  const needing = all.find(({ headline }) => headline.needsPerson);
  const isRunning = (name: string) => all.some(({ policy, endedAt }) => policy === name && endedAt === null);
  const isStartNeeded = scans?.policies.some((each) => each.needs !== undefined && !isRunning(each.policy));
  if (needing === undefined && isStartNeeded === true) return 'start needed · upwave';
  const first = needing ?? all[0];
  if (first === undefined) return 'upwave';
  const percent = Math.floor((100 * first.counts.succeeded) / Math.max(1, first.planned));
  const failed = failedOf(first.counts);
  return `${headlineWords(first)} ${percent}%${failed > 0 ? `, ${failed} failed` : ''} · upwave`;
}
