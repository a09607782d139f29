import { toPrintable } from '../base/printable.ts';
import { countLeft } from '../rollout/left-behind.ts';
import type { RolloutStatus } from '../rollout/status.ts';

/** Whom a rollback does not take back, why, and some by name: a line for all, and one for each reason. */
export function leftBehindWords({
  kind,
  leftBehind,
  targetBuild,
  fromBuilds,
}: RolloutStatus): readonly string[] {
  if (leftBehind.length === 0) return [];
  const count = countLeft(leftBehind);
  const build = kind === 'rollback' ? (fromBuilds[0] ?? '') : targetBuild;
  const all = `${count} ${count === 1 ? 'is' : 'are'} not taken back from ${build}`;
  return [
    toPrintable(all),
    ...leftBehind.map(({ reason, count: some, names }) => {
      const more = some > names.length ? ', …' : '';
      return toPrintable(`${some}: ${reason}: ${names.join(', ')}${more}`);
    }),
  ];
}
