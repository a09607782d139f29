import { toPrintable } from '../../base/safe-text.ts';
import type { PolicyNeed } from '../../contract/admin/policies.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { dueText, headlineWords, policyDueText } from '../../rollout/messages/need-texts.ts';
import { isHeadline } from '../../rollout/status/headline.ts';

/**
 * The action that is due, or what the rollout does: `NEEDS YOU: approve wave rest`, `RUNNING wave 2/3 early`.
 * @param form `short`: a wave under way has only its number
 */
export function headlineText(status: RolloutStatus, form: 'whole' | 'short' = 'whole'): string {
  const { headline, waves } = status;
  if (headline.needsPerson) return `NEEDS YOU: ${toPrintable(dueText(status))}`;
  const index = waves.findIndex(({ state }) => state !== 'passed');
  const wave = status.endedAt === null ? waves[index] : undefined;
  const name = form === 'short' ? '' : ` ${toPrintable(wave?.name ?? '')}`;
  const where = wave === undefined ? '' : ` wave ${index + 1}/${waves.length}${name}`;
  return `${headlineWords(status).toUpperCase()}${where}`;
}

/** The action that is due of a policy without a running rollout. */
export function needHeadline({ kind }: PolicyNeed): string {
  return `NEEDS YOU: ${policyDueText[kind]}`;
}

/** Yellow where a person is needed, red where something went wrong. */
export function headlineColor({ headline }: RolloutStatus): 'yellow' | 'red' | 'green' | 'blue' {
  if (headline.needsPerson) return 'yellow';
  if (isHeadline(headline.kind, 'alarm')) return 'red';
  return isHeadline(headline.kind, 'well') ? 'green' : 'blue';
}
