import type { RolloutFact } from '../decision/rollout-facts.ts';
import { type ForeignAccount, matchesMin, type SampleFigures } from '../model/account.ts';
import { makeText } from './sentences.ts';

/** Why this daemon leaves a rollout alone, and what to do about it. */
export const accountText = makeText<ForeignAccount>({
  unknown: ({ reason }) => {
    const why = reason === '' ? '' : ` (${reason})`;
    return `its collectors are compared with those of the service, to see whether it belongs to this account${why}; none of its upgrades starts before that`;
  },
  another: (figures) =>
    `it belongs to another account: ${figureText(figures)}. Set service.baseUrl and the access key back to that account, or abort it`,
  unclear: (figures) => {
    const { compared, matched, beganAt } = figures;
    if (beganAt !== undefined)
      return `it may belong to another account: it began at ${beganAt} with another access key, and a copy of that account would show the same collectors (${matched} of ${compared}). If it is the same account, set service.baseUrl or the access key back, wait until the rollout continues, and change the other one afterwards. Otherwise set both back, or abort it`;
    const isOnlyFew = compared > 0 && matched === compared;
    const rotated = isOnlyFew
      ? `; if only the access key was rotated, fewer than ${matchesMin} collectors cannot show that: abort it, and start the policy again`
      : ', or abort it';
    return `it may belong to another account: ${figureText(figures)}. Set service.baseUrl and the access key back to those it started with${rotated}`;
  },
});

function figureText({ compared, matched, renamed }: SampleFigures): string {
  if (compared === 0) return 'none of its collectors is left to compare with those of the service';
  const asShown = `of ${compared} of its collectors the service shows ${matched} under the same id and name`;
  return renamed === 0 ? asShown : `${asShown}, and ${renamed} with another name`;
}

/** Why a rollout is known to belong to this account. */
export function tiedText({ mark }: Extract<RolloutFact, { kind: 'accountTied' }>): string {
  return `the account at ${mark.origin} shows its collectors under another access id or address`;
}
