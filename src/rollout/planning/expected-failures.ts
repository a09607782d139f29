import { sumOf } from '../../base/grouping.ts';
import type { ExpectedFailures } from '../../contract/admin/status-parts.ts';
import type { PlanGroups } from '../model/plan-groups.ts';
import { failuresAllowed, type Policy } from '../model/policy.ts';
import { type BuildTrials, makeStratumRisk, worstStrata } from './stratum-risk.ts';

// More do not fit what an operator reads before an approval.
const riskiestMax = 3;

/**
 * How many collectors of each wave are expected to fail, from what builds did in ended rollouts, and which strata failed most.
 * @returns null where no ended rollout shows anything
 */
export function expectFailures(
  { strata, risks = [] }: Pick<PlanGroups, 'strata' | 'risks'>,
  { waves }: Pick<Policy, 'waves'>,
  { history, targetBuild }: { readonly history: readonly BuildTrials[]; readonly targetBuild: string },
): ExpectedFailures | null {
  const risk = makeStratumRisk(history, targetBuild);
  if (risk.all.tried === 0) return null;
  const expected = waves.map(({ name, maxFailures }, wave) => {
    const members = sumOf(strata, ({ sizes }) => sizes[wave] ?? 0);
    const ofStrata = sumOf(strata, ({ label, sizes }) => (sizes[wave] ?? 0) * risk.expectedShareOf(label));
    const failures = ofStrata + sumOf(risks, ({ more }) => more[wave] ?? 0);
    return { name, failures: roundTenth(failures), allowed: failuresAllowed(maxFailures, members) };
  });
  const known = strata
    .filter(({ label }) => risks.every((group) => group.label !== label))
    .map(({ label, sizes }) => ({ label, ...risk.trialsOf(label), isTriedFirst: (sizes[0] ?? 0) > 0 }))
    .concat(
      risks.map(({ label, tried, failed, sizes }) => ({
        label,
        tried,
        failed,
        isTriedFirst: (sizes[0] ?? 0) > 0,
      })),
    )
    .sort((a, b) => b.failed / Math.max(1, b.tried) - a.failed / Math.max(1, a.tried));
  return {
    tried: risk.all.tried,
    failures: roundTenth(sumOf(expected, ({ failures }) => failures)),
    waves: expected,
    riskiest: worstStrata(known).slice(0, riskiestMax),
  };
}

function roundTenth(count: number): number {
  return Math.round(count * 10) / 10;
}
