import { toPrintable } from '../base/printable.ts';
import { stateWords } from '../rollout/state-words.ts';
import type { RolloutStatus } from '../rollout/status.ts';
import { quoteArgument } from './quote-argument.ts';

/** What failed, why, and one collector of each kind: a line each, for a status. */
export function failureWords({ id, failures }: Pick<RolloutStatus, 'id' | 'failures'>): readonly string[] {
  const { total, seen, groups, others } = failures;
  if (groups.length === 0) return [];
  const lines = groups.map(({ state, reason, stratum, count, collectorName }) => {
    const who = count === 1 ? collectorName : `${collectorName} and ${count - 1} more`;
    return toPrintable(`${count} ${stateWords(state)}: ${reason || 'no reason given'}; ${stratum}; ${who}`);
  });
  const rest = others + total - seen;
  const more = rest > 0 ? `${rest} more failed in other ways or earlier; ` : '';
  return [...lines, `${more}each with its time: upwave events ${quoteArgument(id)}`];
}
