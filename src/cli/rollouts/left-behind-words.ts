import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { ShownLeftBehind } from '../../contract/admin/status-parts.ts';
import { countLeft } from '../../rollout/model/left-behind.ts';

/** Collectors that a rollback does not roll back: a line with the total, and one for each reason with some names. */
export function leftBehindWords({
  kind,
  leftBehind,
  targetBuild,
  fromBuilds,
}: RolloutStatus): readonly string[] {
  if (leftBehind.length === 0) return [];
  const count = countLeft(leftBehind);
  const build = kind === 'rollback' ? (fromBuilds[0] ?? '') : targetBuild;
  const all = `${count} ${count === 1 ? 'is' : 'are'} not rolled back from ${build}`;
  return [all, ...leftLines(leftBehind)];
}

/** One line for each reason. */
export function leftLines(leftBehind: readonly ShownLeftBehind[]): readonly string[] {
  return leftBehind.map(({ reason, count, names }) => {
    const more = count > names.length ? ', …' : '';
    return `${count}: ${reason}: ${names.join(', ')}${more}`;
  });
}
