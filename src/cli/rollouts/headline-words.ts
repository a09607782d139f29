import { toPrintable } from '../../base/safe-text.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { stateWords } from '../../rollout/messages/sentences.ts';
import { isHeadline } from '../../rollout/status/headline.ts';
import { askedNow } from '../../rollout/status/legal-verbs.ts';

/** The action that is due, or what the rollout does: `NEEDS YOU: approve wave rest`, `RUNNING wave 2/3 early`. */
export function headlineWords(status: RolloutStatus): string {
  const { headline, waves } = status;
  if (headline.needsPerson) return `NEEDS YOU: ${needWords(status)}`;
  const index = waves.findIndex(({ state }) => state !== 'passed');
  const wave = status.endedAt === null ? waves[index] : undefined;
  const where = wave === undefined ? '' : ` wave ${index + 1}/${waves.length} ${toPrintable(wave.name)}`;
  return `${stateWords(headline.kind).toUpperCase()}${where}`;
}

/** The action that a person has to take, in a few words: `approve wave rest`, `it is held`. */
function needWords(status: RolloutStatus): string {
  switch (status.headline.kind) {
    case 'needsApproval': {
      if (status.state === 'awaitingApproval' && status.buildHold !== null) return 'its build is held';
      const asked = askedNow(status, 'approve');
      return asked !== undefined && 'wave' in asked
        ? `approve wave ${toPrintable(asked.wave)}`
        : 'approve the plan';
    }
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

/** Yellow where a person is needed, red where something went wrong. */
export function headlineColor({ headline }: RolloutStatus): 'yellow' | 'red' | 'green' | 'blue' {
  if (headline.needsPerson) return 'yellow';
  if (isHeadline(headline.kind, 'alarm')) return 'red';
  return isHeadline(headline.kind, 'well') ? 'green' : 'blue';
}
