import { toPrintable } from '../../base/safe-text.ts';
import type { EpochMs } from '../../base/time.ts';
import type { PolicyStatus, PolicyStatuses } from '../../orchestrator/operations/list-policies.ts';
import { describeOrphan } from '../../orchestrator/operations/list-policies.ts';
import { configWords } from '../../rollout/reload/newest-config.ts';
import { showInstant } from '../shell/show-instant.ts';

/** One line for each policy: its last scan for work, what came of it, and when the next one is; and one for each rollout without a policy. */
export function renderPolicies(
  { notReady, configProblem, policies, orphans }: PolicyStatuses,
  now: EpochMs,
): readonly string[] {
  return [
    ...(notReady === undefined ? [] : [`not ready ${toPrintable(notReady)}`]),
    ...(configProblem === undefined ? [] : [`config    ${toPrintable(`${refusedWords} ${configProblem}`)}`]),
    ...orphans.map((orphan) => `orphaned  ${toPrintable(describeOrphan(orphan))}`),
    ...policies.flatMap(({ policy, config }) => {
      const words = configWords(policy, config);
      return words === undefined ? [] : [`config    ${toPrintable(words)}`];
    }),
    ...policies.map((standing) => `last scan ${toPrintable(standing.policy)} ${lookWords(standing, now)}`),
  ];
}

const refusedWords = 'The config file has mistakes; the daemon works by the one before.';

function lookWords({ lastPoll, lastGoodAt, nextPollAt }: PolicyStatus, now: EpochMs): string {
  const next = nextPollAt === null ? '' : `; next ${showInstant(nextPollAt, now)}`;
  if (lastPoll === null) return `has not been yet${next}`;
  const reason = toPrintable(lastPoll.reason);
  const at = showInstant(lastPoll.at, now);
  if (lastPoll.outcome !== 'failed') return `${at}: ${reason}${next}`;
  const good = lastGoodAt === null ? '' : ` (the last good one ${showInstant(lastGoodAt, now)})`;
  return `${at}: failed: ${reason}${good}${next}`;
}
