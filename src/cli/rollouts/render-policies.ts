import { toPrintable } from '../../base/safe-text.ts';
import type { EpochMs } from '../../base/time.ts';
import type { PolicyStatus, PolicyStatuses } from '../../orchestrator/operations/list-policies.ts';
import { describeOrphan } from '../../orchestrator/operations/list-policies.ts';
import { configWords } from '../../rollout/reload/newest-config.ts';
import { showInstant } from '../shell/show-instant.ts';

/**
 * What stands in the way of all, a line for each rollout without a policy, and one for each policy: its last scan, its
 * outcome, and when the next one is due.
 * @param onlyTrouble leave out the scans that did not fail
 */
export function renderPolicies(
  { notReady, configProblem, notificationProblems = [], policies, orphans }: PolicyStatuses,
  now: EpochMs,
  { onlyTrouble = false }: { readonly onlyTrouble?: boolean } = {},
): readonly string[] {
  const scanned = policies.filter(({ lastScan }) => !onlyTrouble || lastScan?.outcome === 'failed');
  return [
    ...(notReady === undefined ? [] : [`not ready ${toPrintable(notReady)}`]),
    ...(configProblem === undefined ? [] : [`config    ${toPrintable(`${refusedWords} ${configProblem}`)}`]),
    ...notificationProblems.map((words) => `notify    ${toPrintable(words)}`),
    ...orphans.map((orphan) => `orphaned  ${toPrintable(describeOrphan(orphan))}`),
    ...policies.flatMap(({ policy, config }) => {
      const words = configWords(policy, config);
      return words === undefined ? [] : [`config    ${toPrintable(words)}`];
    }),
    ...scanned.map((standing) => `last scan ${toPrintable(standing.policy)} ${scanWords(standing, now)}`),
  ];
}

const refusedWords = 'The config file has mistakes; the daemon works by the one before.';

function scanWords({ lastScan, lastGoodAt, nextScanAt }: PolicyStatus, now: EpochMs): string {
  const next = nextScanAt === null ? '' : `; next ${showInstant(nextScanAt, now)}`;
  if (lastScan === null) return `has not been yet${next}`;
  const reason = toPrintable(lastScan.reason);
  const at = showInstant(lastScan.at, now);
  if (lastScan.outcome !== 'failed') return `${at}: ${reason}${next}`;
  const good = lastGoodAt === null ? '' : ` (the last good one ${showInstant(lastGoodAt, now)})`;
  return `${at}: failed: ${reason}${good}${next}`;
}
