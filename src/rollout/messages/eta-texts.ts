import { showCount, singularOrPlural } from '../../base/singular-or-plural.ts';
import { type EpochMs, formatDuration } from '../../base/time.ts';
import { dayMs } from '../../base/time-zone.ts';
import type { EtaUnknownReason } from '../../base/vocabulary.ts';
import type { Eta } from '../../contract/admin/rollout-status.ts';
import { counted } from './sentences.ts';

/** Why the end of a rollout is unknown. */
const etaUnknownText: Readonly<Record<EtaUnknownReason, string>> = {
  account: 'this daemon may not work on its account',
  collectors: 'it waits for deferred collectors',
  ending: 'running upgrades are watched to their end',
  held: 'it is held',
  newerVersion: 'a newer upwave wrote it',
  inventory: 'the inventory is not plausible',
  noWindow: 'its windows have no room for it',
  paused: 'it is paused',
  policyMissing: 'its policy is not in the config',
  rollingBack: 'its rollback shows when it ends',
  serviceDown: 'the service is down',
  windowTooShort:
    'nothing can start: no window is open as long as an upgrade takes, by `upgrade.expect` or by those before. Widen `windows`',
};

type ShowAt = (at: EpochMs) => string;

/** When a rollout is expected to end. An instant is named only where the end needs no person. */
export function etaText(eta: Eta, showAt: ShowAt): string {
  return `${wholeText(eta, showAt)}${heldPart(eta)}`;
}

/** The estimate does not count held collectors, because they wait for a person. */
function heldPart(eta: Eta): string {
  const held = eta.kind === 'unknown' ? undefined : eta.held;
  return held === undefined ? '' : ` (${showCount(held)} held not counted)`;
}

function wholeText(eta: Eta, showAt: ShowAt): string {
  switch (eta.kind) {
    case 'at':
      return `about ${showAt(eta.at)} ${figureText(eta)}`;
    case 'afterApproval': {
      const words = `${formatDuration(eta.durationMs)} ${figureText(eta)}`;
      if (eta.approvalAt === null) return `after approval: ${words}`;
      return `needs an approval about ${showAt(eta.approvalAt)}, then ${words}`;
    }
    case 'atTheLatest':
      return eta.othersAt === null
        ? `at the latest ${showAt(eta.at)}`
        : `about ${showAt(eta.othersAt)}, deferred collectors at the latest ${showAt(eta.at)}`;
    default:
      return `unknown: ${etaUnknownText[eta.reason]}`;
  }
}

/** The same without its range and requests, for a narrow column. */
export function endOnlyText(eta: Eta, showAt: ShowAt): string {
  if (eta.kind === 'at') return `about ${showAt(eta.at)}${heldPart(eta)}`;
  if (eta.kind === 'afterApproval') return `${approvalTexts(eta, showAt)[0]}${heldPart(eta)}`;
  return eta.kind === 'unknown' ? 'unknown' : etaText(eta, showAt);
}

/** When it ends after an approval, the longest text first. The duration of a later approval begins only then. */
export function approvalTexts(
  { approvalAt, durationMs }: Extract<Eta, { readonly kind: 'afterApproval' }>,
  showAt: ShowAt,
): readonly [string, ...string[]] {
  const duration = formatDuration(durationMs);
  if (approvalAt === null) return [`${duration} after approval`];
  const approval = `approval about ${showAt(approvalAt)}`;
  return [`${approval}, then ${duration}`, approval, 'needs an approval'];
}

/** The short form, which may follow other words. */
export function shortEtaText(eta: Eta, now: EpochMs, showAt: ShowAt): string {
  return `${shortText(eta, now, showAt)}${heldPart(eta)}`;
}

function shortText(eta: Eta, now: EpochMs, showAt: ShowAt): string {
  switch (eta.kind) {
    case 'at': {
      const leftMs = Math.max(1_000, eta.at - now);
      const at = leftMs > dayMs ? `, ${showAt(eta.at)}` : '';
      return `done in about ${formatDuration(leftMs)}${at}`;
    }
    case 'afterApproval':
      return `${formatDuration(eta.durationMs)} after ${eta.approvalAt === null ? '' : 'a later '}approval`;
    case 'atTheLatest':
      return `done ${wholeText(eta, showAt)}`;
    default:
      return `end unknown: ${etaUnknownText[eta.reason]}`;
  }
}

function figureText({
  plusMinusMs,
  requests,
  overdue = 0,
}: Extract<Eta, { readonly requests: number }>): string {
  const takes = singularOrPlural(overdue, 'takes', 'take');
  const why = overdue === 0 ? '' : `, because ${counted(overdue, 'upgrade')} ${takes} longer than all before`;
  return `(±${formatDuration(plusMinusMs)}${why}), ${counted(requests, 'request')}`;
}
