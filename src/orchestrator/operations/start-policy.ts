import { isSameBuild } from '../../base/build-version.ts';
import { notInConfig } from '../../base/names.ts';
import type { EpochMs } from '../../base/time.ts';
import type { StartPreview } from '../../contract/admin/policies.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { VerbBody } from '../../contract/admin/verb-body.ts';
import { assessCalendar } from '../../rollout/calendar/calendar.ts';
import { closedText } from '../../rollout/messages/blockers.ts';
import { showLeftOut } from '../../rollout/messages/exclusions.ts';
import { otherPlanText } from '../../rollout/messages/plans.ts';
import { rolloutReasonText } from '../../rollout/messages/rollout-reasons.ts';
import { besideText, type ScanResult, scanText } from '../../rollout/messages/scans.ts';
import { countLeftOut } from '../../rollout/model/left-out.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { formerEndOf, isFailed } from '../../rollout/model/upgrade.ts';
import { expectFailures } from '../../rollout/planning/expected-failures.ts';
import type { Plan } from '../../rollout/planning/plan.ts';
import { estimatePlan } from '../../rollout/status/estimate-plan.ts';
import type { ReadApiBudgetStatus } from '../ports/api-budget.ts';
import { failedBefore, readBuildTrials } from '../scan/read-plan.ts';
import { previewRollout, type ScanParts, startRollout } from '../scan/scan.ts';

export interface StartRequest extends VerbBody {
  readonly policy: string;
  /** The plan that the operator saw (P15). */
  readonly planHash: string;
}

/** `refused`: nothing can start now, or the plan has changed; the reason names the current plan. */
export interface NotStarted {
  readonly kind: 'refused' | 'unknownPolicy' | 'unavailable';
  readonly reason: string;
}

export type StartPreviewResult = { readonly kind: 'planned'; readonly preview: StartPreview } | NotStarted;
export type StartResult = { readonly kind: 'started'; readonly status: RolloutStatus } | NotStarted;

export interface StartPolicyParts extends ScanParts {
  /** The policies of the current config. */
  readonly rollouts: () => readonly Policy[];
  readonly readApiBudgetStatus: ReadApiBudgetStatus;
  readonly rolloutStatus: (rolloutId: string) => Promise<RolloutStatus | undefined>;
}

/** Starts a rollout at an operator's request: first shows its plan, then starts exactly that plan. */
export function makeStartPolicy(parts: StartPolicyParts): {
  readonly previewStart: (policy: string) => Promise<StartPreviewResult>;
  readonly start: (request: StartRequest) => Promise<StartResult>;
} {
  const { rollouts, clock } = parts;
  return {
    previewStart: async (name) => {
      const policy = rollouts().find((each) => each.name === name);
      if (policy === undefined) return unknownPolicy(name, namesOf(rollouts()));
      const found = await previewRollout(parts, policy);
      if (found.kind !== 'ready') return notStarted(parts, found);
      const earlier = await findEarlier(parts, policy.name, found.plan.targetBuild);
      const failed = await countFailedBefore(parts, policy.name, found.plan);
      const expected = expectFailures(found.plan.groups, policy, {
        targetBuild: found.plan.targetBuild,
        history: await readBuildTrials(parts),
      });
      const estimate = await estimateOf(parts, policy, found.plan);
      const more = { earlier, failedBefore: failed, expectedFailures: expected, estimate };
      const preview = { ...previewOf(policy, found.plan, clock.now()), ...more };
      return { kind: 'planned', preview };
    },
    start: async ({ policy: name, ...request }) => {
      const policy = rollouts().find((each) => each.name === name);
      if (policy === undefined) return unknownPolicy(name, namesOf(rollouts()));
      const result = await startRollout(parts, policy, request);
      if (result.kind === 'drifted') {
        const now = previewOf(policy, result.plan, clock.now());
        return { kind: 'refused', reason: otherPlanText(request.planHash, now) };
      }
      if (result.kind !== 'started') return notStarted(parts, result);
      const { by, reason } = request;
      const entry = { at: clock.now(), subject: result.rolloutId, by, reason };
      await parts.register.audit({ event: 'rollout.started', ...entry });
      const status = await parts.rolloutStatus(result.rolloutId);
      if (status === undefined) return { kind: 'refused', reason: `${result.rolloutId} has gone since` };
      return { kind: 'started', status };
    },
  };
}

// Months of nights, in one read.
const pastMax = 20;

/** The last rollout of the policy to this build, if somebody or a breach gave it up. */
async function findEarlier(
  { store }: Pick<StartPolicyParts, 'store'>,
  policy: string,
  targetBuild: string,
): Promise<StartPreview['earlier']> {
  const past = await store.pageRollouts([policy], { limit: pastMax });
  const last = past?.rollouts.find(
    ({ kind, plan }) => kind === 'upgrade' && isSameBuild(plan.targetBuild, targetBuild),
  );
  if (last === undefined || last.endedAt === null) return null;
  const { id: rollout, state, reason, endedAt: at } = last;
  if (state !== 'aborted' && state !== 'rolledBack') return null;
  return { rollout, state, reason: rolloutReasonText(reason), at };
}

/** A schedule leaves these out. An operator who starts a rollout retries them. */
async function countFailedBefore(
  { store }: Pick<StartPolicyParts, 'store'>,
  policy: string,
  { targetBuild, waves }: Plan,
): Promise<number> {
  const past = await store.listRollouts([policy]);
  const failed = new Set([
    ...(await failedBefore(store, past, targetBuild)),
    ...(await failedAndWithdrawn(store, past, targetBuild)),
  ]);
  return waves.flatMap(({ members }) => members).filter(({ collector }) => failed.has(collector.id)).length;
}

// More than any plan has.
const withdrawnReadMax = 1_000_000;

/** Those that failed on the build, were to be retried, and were withdrawn by the end of their rollout. */
async function failedAndWithdrawn(
  store: StartPolicyParts['store'],
  past: readonly Rollout[],
  targetBuild: string,
): Promise<readonly number[]> {
  const toBuild = past.filter(({ kind, plan }) => kind === 'upgrade' && plan.targetBuild === targetBuild);
  const withdrawn = await Promise.all(
    toBuild.map(({ id }) => store.listMissed(id, { kind: 'withdrawn', limit: withdrawnReadMax })),
  );
  return withdrawn
    .flat()
    .filter((upgrade) => isFailed(formerEndOf(upgrade)?.state ?? 'withdrawn'))
    .map(({ identity }) => identity.collectorId);
}

async function estimateOf(
  { clock, readApiBudgetStatus }: Pick<StartPolicyParts, 'clock' | 'readApiBudgetStatus'>,
  policy: Policy,
  plan: Plan,
): Promise<StartPreview['estimate']> {
  const now = clock.now();
  const { requestsPerSecondNow: requestsPerSecond } = await readApiBudgetStatus();
  const { endsAt, plusMinusMs, requests } = estimatePlan(policy, plan, { now, requestsPerSecond });
  return { durationMs: endsAt === null ? null : endsAt - now, plusMinusMs, requests };
}

function previewOf(
  policy: Policy,
  plan: Plan,
  now: EpochMs,
): Omit<StartPreview, 'earlier' | 'failedBefore' | 'expectedFailures' | 'estimate'> {
  const waves = plan.waves.map(({ name, members }, index) => {
    return { name, size: members.length, soakMs: policy.waves[index]?.soakMs ?? 0 };
  });
  return {
    policy: policy.name,
    planHash: plan.hash,
    targetBuild: plan.targetBuild,
    planned: waves.reduce((sum, { size }) => sum + size, 0),
    waves,
    concurrency: policy.concurrency,
    leftOut: showLeftOut(countLeftOut(plan.leftOut.map(({ kind }) => kind))),
    approval: policy.approval,
    window: startWindowOf(policy, now),
  };
}

function startWindowOf(policy: Policy, now: EpochMs): StartPreview['window'] {
  const { isOpen, until, closedBy } = assessCalendar(policy, policy.timeZone, now);
  return { isOpen, until, reason: closedText(closedBy) };
}

async function notStarted(
  { rolloutStatus }: Pick<StartPolicyParts, 'rolloutStatus'>,
  result: ScanResult,
): Promise<NotStarted> {
  const active = result.kind === 'busy' ? await rolloutStatus(result.rolloutId) : undefined;
  if (active !== undefined) return { kind: 'refused', reason: besideText(active) };
  const isAnswered = result.kind !== 'failed' || result.why.kind === 'shortInventory';
  return { kind: isAnswered ? 'refused' : 'unavailable', reason: scanText(result) };
}

function namesOf(policies: readonly Policy[]): readonly string[] {
  return policies.map((policy) => policy.name);
}

/** @param known the names of all policies that the config has, in any account */
export function unknownPolicy(name: string, known: readonly string[]): NotStarted {
  return { kind: 'unknownPolicy', reason: notInConfig('policy', name, known) };
}
