import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { leftBehindLine, leftBehindWords } from '../../rollout/messages/rollback-previews.ts';
import { counted } from '../../rollout/messages/sentences.ts';
import { countLeft } from '../../rollout/model/left-behind.ts';

/**
 * Collectors that a rollback does not roll back: the total, and a line for each reason with some names; one line where there is
 * one reason. None where the reason of the rollout, above, has them.
 */
export function leftBehindText({
  kind,
  leftBehind,
  targetBuild,
  fromBuilds,
  reasonKind,
}: RolloutStatus): readonly string[] {
  if (leftBehind.length === 0 || reasonKind === 'nothingRolledBack') return [];
  const count = countLeft(leftBehind);
  const build = kind === 'rollback' ? (fromBuilds[0] ?? '') : targetBuild;
  const all = `${counted(count, 'is', 'are')} not rolled back from ${build}`;
  const [only, ...others] = leftBehind;
  if (only !== undefined && others.length === 0) return [`${all}: ${leftBehindWords(only)}`];
  return [all, ...leftBehind.map(leftBehindLine)];
}
