import type { DurationMs, EpochMs } from '../../base/time.ts';
import { calendarOf } from '../calendar/calendar.ts';
import { type ShownLeftBehind, showLeftBehind } from '../messages/exclusions.ts';
import { countLeft, type LeftBehind } from '../model/left-behind.ts';
import { formatAmount, membersOf, type WaveRule } from '../model/policy.ts';
import type { RolloutView } from '../model/rollout.ts';
import { isEnd, isRunning, type Upgrade } from '../model/upgrade.ts';
import { rollbackPolicy } from '../planning/freeze-rollback.ts';
import { countBuilds } from '../planning/new-rollout.ts';
import type { ShownRollback } from '../verbs/refusal.ts';
import { type WindowStatus, windowOf } from './window.ts';

/** What a rollback does, shown before it is asked for (P15). Its plan leaves out who has left the fleet by then. */
export interface RollbackPreview {
  readonly rollout: string;
  /** Collectors that go back. */
  readonly collectors: number;
  /** How many of these are still being upgraded; each of these upgrades ends first. */
  readonly running: number;
  /** How many of these never showed the build; they go back only where they show it by then. */
  readonly unconfirmed: number;
  /** So many more may be upgraded before the rollback begins: the slots of a rollout that runs. */
  readonly mayGrowBy: number;
  /** The builds that they go back to, most frequent first. */
  readonly builds: ReadonlyArray<{ readonly build: string; readonly count: number }>;
  readonly leftBehind: readonly ShownLeftBehind[];
  readonly waves: readonly PreviewedWave[];
  readonly concurrency: number;
  readonly caps: ReadonlyArray<{ readonly key: string; readonly cap: number }>;
  /** null: it may start at any time. */
  readonly window: WindowStatus | null;
}

export interface PreviewedWave {
  readonly name: string;
  /** At most so many collectors; null: those that match, which is known only once it is planned. */
  readonly size: number | null;
  readonly soakMs: DurationMs;
  /** As written in the config: `1%`. */
  readonly maxFailures: string;
}

/**
 * Shows the rollback of a rollout.
 * @param of those that it takes back, and those that it can't
 */
export function previewRollback(
  view: RolloutView,
  of: { readonly takenBack: readonly Upgrade[]; readonly left: readonly LeftBehind[] },
  now: EpochMs,
): RollbackPreview {
  const { rollout } = view;
  const { takenBack, left } = of;
  const running = takenBack.filter(({ progress: { state } }) => !isEnd(state)).length;
  return {
    ...limitsOf(view, now),
    collectors: takenBack.length,
    running,
    unconfirmed: takenBack.filter(({ progress: { state } }) => state === 'unconfirmed').length,
    mayGrowBy: rollout.state === 'running' || view.slotsTaken > 0 ? rollout.policy.concurrency : 0,
    builds: countBuilds(takenBack.map(({ identity: { fromBuild } }) => fromBuild)),
    leftBehind: left.map(showLeftBehind),
    waves: sizesOf(rollbackPolicy(rollout.policy).waves, takenBack),
  };
}

/** Shows the remainder of a rollback that runs: whoever lets it pass its windows starts these. */
export function previewRest(view: RolloutView, open: readonly Upgrade[], now: EpochMs): RollbackPreview {
  const { rollout } = view;
  const waves = rollout.policy.waves.map((rule, index) => ({
    ...shapeOf(rule),
    size: open.filter(({ identity: { wave } }) => wave === index).length,
  }));
  return {
    ...limitsOf(view, now),
    collectors: open.length,
    running: open.filter(({ progress: { state } }) => isRunning(state)).length,
    unconfirmed: 0,
    mayGrowBy: 0,
    builds: countBuilds(open.map(({ identity: { toBuild } }) => toBuild)),
    leftBehind: rollout.leftBehind.map(showLeftBehind),
    waves,
  };
}

/**
 * Whether a rollback is still the one that was shown: no more collectors go back, and no more stay, than were shown and
 * may have come to it since. Fewer are no change: their upgrades have failed meanwhile, or someone has taken them back.
 */
export function isAsShown(
  shown: ShownRollback,
  { collectors, leftBehind, mayGrowBy }: RollbackPreview,
): boolean {
  return collectors <= shown.collectors + mayGrowBy && countLeft(leftBehind) <= shown.leftBehind + mayGrowBy;
}

/** Of a preview, what whoever confirms it names. */
export function shownOf({ collectors, leftBehind }: RollbackPreview): ShownRollback {
  return { collectors, leftBehind: countLeft(leftBehind) };
}

function limitsOf(
  { rollout }: RolloutView,
  now: EpochMs,
): Pick<RollbackPreview, 'rollout' | 'concurrency' | 'caps' | 'window'> {
  const { id, policy } = rollout;
  return {
    rollout: id,
    concurrency: policy.concurrency,
    caps: policy.maxInFlightPer,
    window: windowOf(calendarOf(rollout), now),
  };
}

/** Strata differ by the build that a collector had, in the plan that is taken back as in the rollback. */
function sizesOf(rules: readonly WaveRule[], upgrades: readonly Upgrade[]): readonly PreviewedWave[] {
  const [canary, rest] = rules;
  if (canary === undefined || rest === undefined) return [];
  const size = canary.match === undefined ? canarySize(canary, upgrades) : null;
  return [
    { ...shapeOf(canary), size },
    { ...shapeOf(rest), size: size === null ? null : upgrades.length - size },
  ];
}

function canarySize({ size }: WaveRule, upgrades: readonly Upgrade[]): number {
  if (size.kind !== 'perStratum') return membersOf(size, upgrades.length);
  const members = new Map<number, number>();
  for (const { identity } of upgrades)
    members.set(identity.stratum, (members.get(identity.stratum) ?? 0) + 1);
  return [...members.values()].reduce((sum, count) => sum + Math.min(size.count, count), 0);
}

function shapeOf({ name, soakMs, maxFailures }: WaveRule): Omit<PreviewedWave, 'size'> {
  return { name, soakMs, maxFailures: formatAmount(maxFailures) };
}
