import { showCount } from '../../base/singular-or-plural.ts';
import type { BuildOutcome } from '../../contract/admin/builds.ts';
import { counted } from './sentences.ts';

/** `19.536-4: 4,210 tried in 6 rollouts, 0.4% failed; Windows Server 2016: 12 of 28`. */
export function buildOutcomeText(outcome: Omit<BuildOutcome, 'text' | 'accountName'>): string {
  const { build, tried, rollouts, worst } = outcome;
  const [worstOne] = worst;
  const stratum = worstOne === undefined ? '' : `; ${worstStratumText(worstOne)}`;
  return `${build}: ${showCount(tried)} tried in ${counted(rollouts, 'rollout')}, ${failedShareText(outcome)} failed${stratum}`;
}

/** `0.4%`. Only if all failed, it is `100%`. */
export function failedShareText({ tried, failed }: Pick<BuildOutcome, 'tried' | 'failed'>): string {
  if (failed === 0) return 'none';
  const perMille = Math.floor((1_000 * failed) / tried);
  return perMille === 0 ? 'under 0.1%' : `${perMille / 10}%`;
}

/** `Windows Server 2016: 12 of 28`. */
export function worstStratumText({ label, tried, failed }: BuildOutcome['worst'][number]): string {
  return `${label}: ${showCount(failed)} of ${showCount(tried)}`;
}

/** Instead of an empty table. */
export const noBuildHistory = 'No rollout with upgrades has ended yet.';
