import { countEach, sumOf } from '../../base/grouping.ts';
import type { EpochMs } from '../../base/time.ts';
import type { RollbackPreview, ShownRollback } from '../../contract/admin/verbs.ts';
import { calendarOf } from '../calendar/calendar.ts';
import { showLeftBehind } from '../messages/exclusions.ts';
import type { AttributeTable } from '../model/attributes.ts';
import { countLeft, type LeftBehind } from '../model/left-behind.ts';
import { formatAmount, membersOf, type Policy, type WaveRule } from '../model/policy.ts';
import type { RolloutView } from '../model/rollout.ts';
import { isEnd, isFailed, isRunning, type Upgrade } from '../model/upgrade.ts';
import { longestChain } from '../planning/arrange-plan.ts';
import { makeFormerStratum } from '../planning/former-stratum.ts';
import { rollbackCanaryMax, rollbackPolicy } from '../planning/freeze-rollback.ts';
import { countBuilds } from '../planning/new-rollout.ts';
import { estimateRollback } from './estimate-plan.ts';
import { windowOf } from './window.ts';

type PreviewedWave = RollbackPreview['waves'][number];

interface PreviewAt {
  readonly now: EpochMs;
  readonly requestsPerSecond: number;
}

/**
 * Previews the rollback of a rollout.
 * @param parted the upgrades to roll back, and the collectors that cannot be rolled back
 * @param table the attributes of the plan; needed where collectors were moved to a held group
 */
export function previewRollback(
  view: RolloutView,
  parted: { readonly toRollBack: readonly Upgrade[]; readonly left: readonly LeftBehind[] },
  at: PreviewAt,
  table?: AttributeTable,
): RollbackPreview {
  const { rollout } = view;
  const { toRollBack, left } = parted;
  const stratumOf = makeFormerStratum(view.groups, rollout.policy.spreadBy, table);
  const running = toRollBack.filter(({ progress: { state } }) => !isEnd(state)).length;
  const policy = rollbackPolicy(rollout.policy);
  const waves = sizesOf(
    policy.waves,
    // One whose stratum is unknown may be the only one of it, so that the canary is never larger than shown.
    toRollBack.map(({ identity }) => stratumOf(identity) ?? identity.collectorId),
  );
  return {
    ...limitsOf(view, at.now),
    ...estimateOf(view, { policy, waves, upgrades: toRollBack }, at),
    collectors: toRollBack.length,
    running,
    uncertain: toRollBack.filter(({ progress: { state } }) => isFailed(state)).length,
    mayGrowBy: rollout.state === 'running' || view.slotsTaken > 0 ? rollout.policy.concurrency : 0,
    builds: countBuilds(toRollBack.map(({ identity: { fromBuild } }) => fromBuild)),
    leftBehind: left.map(showLeftBehind),
    waves,
  };
}

/** Previews the remaining upgrades of a running rollback, for an operator who lets it start outside its window. */
export function previewRest(view: RolloutView, open: readonly Upgrade[], at: PreviewAt): RollbackPreview {
  const { rollout } = view;
  const waves = rollout.policy.waves.map((rule, index) => ({
    ...shapeOf(rule),
    size: open.filter(({ identity: { wave } }) => wave === index).length,
  }));
  return {
    ...limitsOf(view, at.now),
    ...estimateOf(view, { policy: rollout.policy, waves, upgrades: open }, at),
    collectors: open.length,
    running: open.filter(({ progress: { state } }) => isRunning(state)).length,
    uncertain: 0,
    mayGrowBy: 0,
    builds: countBuilds(open.map(({ identity: { toBuild } }) => toBuild)),
    leftBehind: rollout.rollback.leftBehind.map(showLeftBehind),
    waves,
  };
}

/**
 * Whether a rollback still matches its preview: no more collectors are rolled back or stay than were shown, apart from
 * those upgraded in the meantime. Fewer are accepted, because upgrades may have failed since.
 */
export function isAsShown(
  confirmed: ShownRollback,
  { collectors, leftBehind, mayGrowBy }: RollbackPreview,
): boolean {
  return (
    collectors <= confirmed.collectors + mayGrowBy &&
    countLeft(leftBehind) <= confirmed.leftBehind + mayGrowBy
  );
}

/** The figures of a preview by which an operator confirms it. */
export function shownOf({ collectors, leftBehind }: RollbackPreview): ShownRollback {
  return { collectors, leftBehind: countLeft(leftBehind) };
}

function limitsOf(
  { rollout }: RolloutView,
  now: EpochMs,
): Pick<RollbackPreview, 'rollout' | 'concurrency' | 'caps' | 'perHour' | 'window'> {
  const { id, policy, rollback } = rollout;
  return {
    rollout: id,
    concurrency: policy.concurrency,
    caps: policy.maxInFlightPer,
    perHour: rollback.anyTime ? null : (policy.pace?.perHour ?? null),
    window: windowOf(calendarOf({ ...rollout, policy }), now),
  };
}

function estimateOf(
  view: RolloutView,
  {
    policy,
    waves,
    upgrades,
  }: {
    readonly policy: Policy;
    readonly waves: readonly PreviewedWave[];
    readonly upgrades: readonly Upgrade[];
  },
  at: PreviewAt,
): Pick<RollbackPreview, 'estimate' | 'estimateNow'> {
  const members = upgrades.map(({ identity }) => identity);
  return estimateRollback(
    view,
    {
      ...{ policy, sizes: waves.map(({ size }) => size), collectors: upgrades.length },
      chain: longestChain(members, view.groups.domains),
    },
    at,
  );
}

/** Uses the strata of the original plan. They group by previous build, as those of the rollback do. @param strata of each collector */
function sizesOf(
  rules: readonly WaveRule[],
  strata: ReadonlyArray<string | number>,
): readonly PreviewedWave[] {
  const [canary, rest] = rules;
  if (canary === undefined || rest === undefined) return [];
  const size =
    canary.match === undefined
      ? Math.min(canarySize(canary, strata), rollbackCanaryMax(strata.length))
      : null;
  return [
    { ...shapeOf(canary), size },
    { ...shapeOf(rest), size: size === null ? null : strata.length - size },
  ];
}

function canarySize({ size }: WaveRule, strata: ReadonlyArray<string | number>): number {
  if (size.kind !== 'perStratum') return membersOf(size, strata.length);
  const members = countEach(strata);
  return sumOf(members.values(), (count) => Math.min(size.count, count));
}

function shapeOf({ name, soakMs, maxFailures }: WaveRule): Omit<PreviewedWave, 'size'> {
  return { name, soakMs, maxFailures: formatAmount(maxFailures) };
}
