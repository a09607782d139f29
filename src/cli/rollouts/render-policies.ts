import { toPrintable } from '../../base/safe-text.ts';
import type { EpochMs } from '../../base/time.ts';
import type { PolicyStatus, PolicyStatuses } from '../../contract/admin/policies.ts';
import { configText } from '../../rollout/messages/config-texts.ts';
import { showZoned } from '../shell/show-instant.ts';

/**
 * Blockers of the whole daemon, and a line for each policy: its last scan, the
 * outcome, and when the next scan is due.
 * @param onlyTrouble leave out the scans that did not fail
 */
export function renderPolicies(
  { notReady, configProblem, configDifference, notificationProblems = [], reports, policies }: PolicyStatuses,
  now: EpochMs,
  { onlyTrouble = false }: { readonly onlyTrouble?: boolean } = {},
): readonly string[] {
  const scanned = policies.filter(({ lastScan }) => !onlyTrouble || lastScan?.outcome === 'failed');
  return [
    ...(notReady === undefined ? [] : [`not ready ${toPrintable(notReady)}`]),
    ...(configProblem === undefined ? [] : [`config    ${toPrintable(`${refusedText} ${configProblem}`)}`]),
    ...(configDifference === undefined ? [] : [`config    ${toPrintable(configDifference)}`]),
    ...notificationProblems.map((words) => `notify    ${toPrintable(words)}`),
    ...reportLines(reports, onlyTrouble),
    ...policies.flatMap(({ policy, config }) => {
      const words = configText(policy, config);
      return words === undefined ? [] : [`config    ${toPrintable(words)}`];
    }),
    ...scanned.map((status) => `last scan ${toPrintable(status.policy)} ${scanText(status, now)}`),
  ];
}

/** The directory of the reports, or why no report is written. */
function reportLines(reports: PolicyStatuses['reports'], onlyTrouble: boolean): readonly string[] {
  if (reports === undefined || (onlyTrouble && reports.problem === undefined)) return [];
  const { directory, problem } = reports;
  return [`reports   ${toPrintable(problem ?? `in ${directory}, once a rollout has ended`)}`];
}

const refusedText = 'The config file has errors; the daemon still uses the last valid config.';

function scanText({ lastScan, lastGoodAt, nextScanAt }: PolicyStatus, now: EpochMs): string {
  const next = nextScanAt === null ? '' : `; next ${showZoned(nextScanAt, now)}`;
  if (lastScan === null) return `none yet${next}`;
  const reason = toPrintable(lastScan.reason).replace(/\.$/, '');
  const at = showZoned(lastScan.at, now);
  if (lastScan.outcome !== 'failed') return `${at}: ${reason}${next}`;
  const good = lastGoodAt === null ? '' : ` (the last good one ${showZoned(lastGoodAt, now)})`;
  return `${at}: failed: ${reason}${good}${next}`;
}
