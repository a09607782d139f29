import type { ApiBudgetStatus, RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { refusalText } from '../../rollout/messages/refusal-texts.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { describeRollout } from '../../rollout/status/status.ts';
import type { Refusal } from '../../rollout/verbs/refusal.ts';
import { findOrphans } from '../configs/find-orphans.ts';
import { auditKeptMax } from '../ports/fleet-register.ts';
import { eventsReadMax } from '../ports/rollout-store.ts';
import { loadCauses } from '../records/load-causes.ts';
import { loadRolloutSummary, withShownAttribute } from '../records/read-records.ts';
import { writeReports } from '../report/write-reports.ts';
import { readBuildTrials } from '../scan/read-plan.ts';
import { makeApplyVerb } from './apply-verb.ts';
import { auditVerb } from './audit-verbs.ts';
import { holdSubjects, listHolds, releaseSubjects } from './change-holds.ts';
import { makeAuditMatcher, makeEventMatcher } from './event-filters.ts';
import { explainCollector, explainPlanned } from './explain-collector.ts';
import { listPolicies } from './list-policies.ts';
import { makeNameStarter } from './name-starter.ts';
import type { Refused, RolloutOperations, VerbResult } from './operations.ts';
import type { OperationsParts } from './operations-parts.ts';
import { searchUpgrades } from './search-upgrades.ts';
import { makeShowCourse } from './show-course.ts';
import { showRollback } from './show-rollback.ts';

/** Makes the operator's reads and verbs from store and register. They work on every daemon, leader or not. */
export function makeOperations(parts: OperationsParts): RolloutOperations {
  const { store, readApiBudgetStatus } = parts;
  const applyVerb = makeApplyVerb(parts);
  const ofAccount = parts.accountName === undefined ? {} : { accountName: parts.accountName };
  const describe = makeDescribe(parts, ofAccount);
  const rolloutStatus = async (rolloutId: string): Promise<RolloutStatus | undefined> =>
    describe(rolloutId, readApiBudgetStatus());
  const describeAll = async (rollouts: readonly Rollout[], api: ApiBudgetStatus) => {
    const statuses = await Promise.all(rollouts.map(({ id }) => describe(id, api)));
    return statuses.filter((status) => status !== undefined);
  };
  return {
    rolloutStatus,
    listRollouts: async () => {
      const [current, api] = await Promise.all([loadCurrent(parts), readApiBudgetStatus()]);
      return describeAll(current, api);
    },
    pageRollouts: async (page) => {
      const [found, api] = await Promise.all([
        store.pageRollouts(parts.policies(), page),
        readApiBudgetStatus(),
      ]);
      if (found === undefined) return undefined;
      return { rollouts: await describeAll(found.rollouts, api), next: found.next };
    },
    listPolicies: () => listPolicies(parts),
    listUpgrades: async (rolloutId, page) => {
      if ((await store.loadRollout(rolloutId)) === undefined) return undefined;
      return store.listUpgrades(rolloutId, page);
    },
    report: async (rolloutId, format) => (await writeReports(parts, rolloutId, [format]))?.[format],
    searchUpgrades: (rolloutId, search) => searchUpgrades(parts, rolloutId, search),
    showCourse: makeShowCourse(parts),
    readEvents: async (rolloutId, limit, filter) => {
      if ((await store.loadRollout(rolloutId)) === undefined) return undefined;
      if (filter === undefined) return store.readEvents(rolloutId, { limit });
      const events = await store.readEvents(rolloutId, { limit: eventsReadMax });
      return events.filter(makeEventMatcher(filter)).slice(0, limit);
    },
    previewRollback: async (rolloutId) => {
      const preview = await showRollback(parts, rolloutId);
      return preview.kind === 'refused' ? refused(preview.refusal) : preview;
    },
    apply: async (request) => {
      const judgement = await applyVerb(request);
      if (judgement === undefined) return { kind: 'unknownRollout' };
      if (judgement.kind === 'refused') return refused(judgement.refusal);
      if (judgement.kind === 'change') await auditVerb(parts, request, judgement.retried);
      const status = await rolloutStatus(request.rolloutId);
      if (status === undefined) return { kind: 'unknownRollout' };
      return { kind: judgement.kind === 'change' ? 'done' : 'unchanged', status } satisfies VerbResult;
    },
    hold: (request) => holdSubjects(parts, request),
    release: (request) => releaseSubjects(parts, request),
    listHolds: () => listHolds(parts, ofAccount),
    readAudit: async (limit, filter) => {
      if (filter === undefined) return parts.register.readAudit(limit);
      const all = await parts.register.readAudit(auditKeptMax);
      return all.filter(makeAuditMatcher(filter, all)).slice(0, limit);
    },
    listBuildHistory: async () => {
      const outcomes = await readBuildTrials(parts);
      return outcomes.map((each) => ({ ...each, ...ofAccount }));
    },
    explain: (collector) => explainCollector(parts, collector),
    explainPlanned: (collector) => explainPlanned(parts, collector),
  };
}

/** Makes the function that reads the status of a rollout; it returns undefined if there is no such rollout. */
function makeDescribe(parts: OperationsParts, ofAccount: Pick<RolloutStatus, 'accountName'>) {
  const nameStarter = makeNameStarter(parts);
  return async (
    rolloutId: string,
    budget: ApiBudgetStatus | Promise<ApiBudgetStatus>,
  ): Promise<RolloutStatus | undefined> => {
    const now = parts.clock.now();
    // In parallel, because a person or Prometheus waits for each round trip.
    const [view, api] = await Promise.all([loadRolloutSummary(parts, rolloutId, now), budget]);
    if (view === undefined) return undefined;
    const known = { ...view, isPolicyMissing: parts.claims.isMissing(view.rollout.policy.name) };
    const causes = await loadCauses(parts, known);
    const shown = await withShownAttribute(parts, known, causes);
    const history = view.rollout.state === 'awaitingApproval' ? await readBuildTrials(parts) : [];
    const status = describeRollout(shown, now, api, causes, history);
    return { ...status, startedBy: await nameStarter(status), ...ofAccount };
  };
}

/** The current rollouts of all policies, also of those that are no longer in the config; the newest first. */
async function loadCurrent(parts: OperationsParts): Promise<readonly Rollout[]> {
  const { store, policies } = parts;
  // In parallel, because a person or Prometheus waits for each round trip.
  const [current, orphans] = await Promise.all([store.currentRollouts(policies()), findOrphans(parts)]);
  const orphaned = [...new Set(orphans.map(({ policy }) => policy))];
  const others = orphaned.length === 0 ? [] : await store.currentRollouts(orphaned);
  return [...current, ...others].sort((a, b) => b.createdAt - a.createdAt);
}

/** A refusal with its sentence. */
function refused(refusal: Refusal): Refused {
  return { kind: 'refused', refusal, reason: refusalText(refusal) };
}
