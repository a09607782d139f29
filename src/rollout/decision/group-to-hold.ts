import { sumOf } from '../../base/grouping.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { formatAttributes } from '../model/attributes.ts';

/** The part of a status that says which group of collectors may be held. */
export interface GroupedFailures
  extends Pick<RolloutStatus, 'state' | 'sharedAttribute' | 'endedAt' | 'reasonKind'> {
  readonly strata: { readonly held: ReadonlyArray<{ readonly label: string; readonly failed?: number }> };
}

/**
 * The group of collectors that explains the failures.
 * @returns undefined if it is held already, nothing starts any more, or only held strata were left, so that the group was released
 */
export function groupToHold(status: GroupedFailures): string | undefined {
  const { state, sharedAttribute: shared, endedAt, reasonKind } = status;
  const startsNothing = endedAt !== null || state === 'rollingBack' || reasonKind === 'onlyHeldStrata';
  if (shared === null || startsNothing) return undefined;
  return isExplainedByHold(status) ? undefined : formatAttributes(shared.attributes);
}

/** Whether the group that explains the failures is held. */
export function isExplainedByHold({
  sharedAttribute: shared,
  strata,
}: Pick<GroupedFailures, 'sharedAttribute' | 'strata'>): boolean {
  if (shared === null) return false;
  const name = formatAttributes(shared.attributes);
  return strata.held.some(({ label }) => label === name);
}

/**
 * The group that explains more than half of the failures that count. It is held before the rollout is resumed. Attempts that are
 * retried stopped nothing, so the advice does not change with them.
 * @returns undefined if no group does, or it is not to be held
 */
export function groupToHoldFirst(status: ExplainedFailures): string | undefined {
  return explainsMost(status) ? groupToHold(status) : undefined;
}

type ExplainedFailures = GroupedFailures & Pick<RolloutStatus, 'causes'>;

function explainsMost({ sharedAttribute: shared, causes, strata }: ExplainedFailures): boolean {
  if (shared === null) return false;
  const { failed, elsewhere, cause, apartFromHeld } = shared;
  const weighed = failed + elsewhere.failed;
  const ended = causes.find(({ of }) => of === 'failed');
  if (cause?.of !== 'retrying') {
    const aside = apartFromHeld === true ? sumOf(strata.held, (each) => each.failed ?? 0) : 0;
    return failed * 2 > Math.max((ended?.total ?? 0) - aside, weighed);
  }
  if (ended !== undefined) {
    // The figures include attempts that are retried: the group has as large a share of the failures of this cause.
    return (failed / weighed) * cause.ended * 2 > ended.total;
  }
  const retried = causes.find(({ of }) => of === 'retrying')?.total ?? 0;
  return failed * 2 > Math.max(retried, weighed);
}

/** Collectors that start once the rollout continues: those that wait, without members of held strata. */
export function startableOf({ counts, waves }: Pick<RolloutStatus, 'counts' | 'waves'>): number {
  const waiting = counts.pending + counts.retrying + counts.deferred;
  return Math.max(0, waiting - sumOf(waves, ({ setAside }) => setAside));
}

/**
 * Labels of the strata that are released before the rollout is resumed, because a resume would end it without them.
 * @returns none if other collectors can start after a resume
 */
export function strataToReleaseFirst(
  status: Pick<RolloutStatus, 'reasonKind' | 'counts' | 'waves' | 'strata'>,
): readonly string[] {
  const { reasonKind, strata } = status;
  if (reasonKind !== 'onlyHeldStrata' || startableOf(status) > 0) return [];
  return strata.held.flatMap(({ label, waiting }) => (waiting > 0 ? [label] : []));
}

/**
 * Whether the resume that ends the rollout without its held strata is advised as much as their release: collectors of theirs have
 * failed, or a person holds them. While the cause stands, those that are released fail too.
 */
export function advisesEndWithoutStrata(status: Parameters<typeof strataToReleaseFirst>[0]): boolean {
  const labels = new Set(strataToReleaseFirst(status));
  const mayFail = ({ by, failed = 0 }: { readonly by: string; readonly failed?: number }) =>
    failed > 0 || by !== 'daemon';
  return status.strata.held.some((held) => mayFail(held) && labels.has(held.label));
}
