import { toPrintable } from '../../base/safe-text.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { dueText, headlineWords } from '../../rollout/messages/need-texts.ts';
import { isHeadline } from '../../rollout/status/headline.ts';

/** The action that is due, or what the rollout does: `NEEDS YOU: approve wave rest`, `RUNNING wave 2/3 early`. */
export function headlineText(status: RolloutStatus): string {
  const { headline, waves } = status;
  if (headline.needsPerson) return `NEEDS YOU: ${toPrintable(dueText(status))}`;
  const index = waves.findIndex(({ state }) => state !== 'passed');
  const wave = status.endedAt === null ? waves[index] : undefined;
  const where = wave === undefined ? '' : ` wave ${index + 1}/${waves.length} ${toPrintable(wave.name)}`;
  return `${headlineWords(status).toUpperCase()}${where}`;
}

/** Yellow where a person is needed, red where something went wrong. */
export function headlineColor({ headline }: RolloutStatus): 'yellow' | 'red' | 'green' | 'blue' {
  if (headline.needsPerson) return 'yellow';
  if (isHeadline(headline.kind, 'alarm')) return 'red';
  return isHeadline(headline.kind, 'well') ? 'green' : 'blue';
}
