import { showCount, singularOrPlural } from '../../base/singular-or-plural.ts';
import type { LeftBehindKind } from '../../base/vocabulary.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { countLeft } from '../../rollout/model/left-behind.ts';

type Figures = Pick<RolloutStatus, 'kind' | 'state' | 'counts' | 'planned' | 'leftBehind' | 'endedAt'>;

/** Collectors that the rollback planned, but did not take back. Its own status counts them, too. */
const plannedKinds: readonly LeftBehindKind[] = ['failed', 'withdrawn'];

/**
 * `40/206 ok`. A rollback and the rollout that it takes back have the same figures: `105/120 back`, of the collectors that the
 * rollback planned.
 */
export function doneText(status: Figures): string {
  const { kind, state, counts, planned } = status;
  if (kind === 'rollback') return `${showCount(counts.succeeded)}/${showCount(planned)} back`;
  if (state !== 'rolledBack') return `${showCount(counts.succeeded)}/${showCount(planned)} ok`;
  const missed = countLeft(leftOf(status, (each) => plannedKinds.includes(each)));
  return `${showCount(counts.rolledBack)}/${showCount(counts.rolledBack + missed)} back`;
}

/**
 * `4 withdrawn`: collectors without which the figures of an ended rollout do not add up; empty without any. A rollout that
 * was taken back has those of its rollback, as for the collectors that are back.
 */
export function withdrawnText(status: Figures): string {
  const { kind, state, counts, endedAt } = status;
  if (endedAt === null) return '';
  const isTakenBack = kind !== 'rollback' && state === 'rolledBack';
  const count = isTakenBack ? countLeft(leftOf(status, (each) => each === 'withdrawn')) : counts.withdrawn;
  return count === 0 ? '' : `${showCount(count)} withdrawn`;
}

/** `11 stay`: collectors that a rollback leaves out of its plan; empty without any. */
export function stayText(status: Figures): string {
  const isBack = status.kind === 'rollback' || status.state === 'rolledBack';
  const count = isBack ? countLeft(leftOf(status, (kind) => !plannedKinds.includes(kind))) : 0;
  return count === 0 ? '' : `${showCount(count)} ${singularOrPlural(count, 'stays', 'stay')}`;
}

function leftOf({ leftBehind }: Figures, isMeant: (kind: LeftBehindKind) => boolean) {
  return leftBehind.filter(({ kind }) => isMeant(kind));
}
