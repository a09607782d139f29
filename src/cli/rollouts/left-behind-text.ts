import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { leftBehindLine } from '../../rollout/messages/rollback-previews.ts';
import { counted } from '../../rollout/messages/sentences.ts';
import { countLeft } from '../../rollout/model/left-behind.ts';

/** Collectors that a rollback does not roll back: a line with the total, and one for each reason with some names. */
export function leftBehindText({
  kind,
  leftBehind,
  targetBuild,
  fromBuilds,
}: RolloutStatus): readonly string[] {
  if (leftBehind.length === 0) return [];
  const count = countLeft(leftBehind);
  const build = kind === 'rollback' ? (fromBuilds[0] ?? '') : targetBuild;
  const all = `${counted(count, 'is', 'are')} not rolled back from ${build}`;
  return [all, ...leftBehind.map(leftBehindLine)];
}
