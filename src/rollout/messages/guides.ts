import type { HeadlineKind } from '../../base/vocabulary.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { IncidentDetails } from '../model/notice.ts';

/** A section of a guide that the daemon serves. A test checks that all of them exist. */
export interface GuideSection {
  readonly guide: 'alerts' | 'incidents';
  readonly anchor: string;
}

const alert = (anchor: `Upwave${string}`): GuideSection => ({ guide: 'alerts', anchor });
const incident = (anchor: string): GuideSection => ({ guide: 'incidents', anchor });

const buildHeld = alert('UpwaveBuildHeld');
const stratumHeld = alert('UpwaveStratumHeld');

/** What to do about a policy that waits for a start, because Redis lost its rollout. */
export const guideOfStart = alert('UpwaveRedisEmptied');

/** What a rollout's headline means, where that is more than its own words. */
const byHeadline: Readonly<Partial<Record<HeadlineKind, GuideSection>>> = {
  newerVersion: incident('a-newer-upwave-wrote-a-rollout'),
  otherAccount: alert('UpwaveForeignRollout'),
  policyMissing: alert('UpwavePolicyMissing'),
  held: alert('UpwaveRolloutHeld'),
  needsApproval: alert('UpwaveRolloutAwaitsApproval'),
  waitsForService: alert('UpwaveServiceDown'),
  waitsForInventory: incident('the-inventory-is-implausible'),
};

/** Problems of the daemon, by the names that the list of policies has for them. */
export const guideOfProblem = {
  configProblem: alert('UpwaveConfigRefused'),
  configDifference: alert('UpwaveConfigOutdated'),
  notificationProblems: alert('UpwaveNotificationsFail'),
  reports: alert('UpwaveReportsFail'),
} as const;

const byIncident: Readonly<Record<Exclude<IncidentDetails['event'], 'held'>, GuideSection>> = {
  approvalNeeded: alert('UpwaveRolloutAwaitsApproval'),
  stratumHeld,
  noProgress: alert('UpwaveNoProgress'),
  discoveryFailing: alert('UpwaveScansFail'),
};

/** What to do about a rollout that does not continue; undefined: nothing, or no guide has more than its own words. */
export function guideOfRollout({
  headline,
  state,
  buildHold,
  blockers,
}: RolloutStatus): GuideSection | undefined {
  if (state === 'awaitingApproval' && headline.kind === 'needsApproval' && buildHold !== null)
    return buildHeld;
  if (headline.kind === 'running' && blockers.some(({ kind }) => kind === 'stratumHeld')) return stratumHeld;
  return byHeadline[headline.kind];
}

/** What to do about an incident. */
export function guideOfIncident(details: IncidentDetails): GuideSection | undefined {
  if (details.event !== 'held') return byIncident[details.event];
  const { headline = 'held' } = details;
  return headline === 'startNeeded' ? guideOfStart : byHeadline[headline];
}

/** Every section to which a message or the page may lead. */
export const linkedSections: readonly GuideSection[] = [
  ...[buildHeld, stratumHeld, guideOfStart],
  ...[byHeadline, guideOfProblem, byIncident].flatMap((sections) => Object.values(sections)),
];
