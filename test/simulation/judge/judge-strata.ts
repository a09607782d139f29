import type { HeldStratum, Rollout } from '../../../src/rollout/model/rollout.ts';
import { isFailed } from '../../../src/rollout/model/upgrade.ts';
import type { Night } from '../night.ts';
import type { SeenRollout } from './seen-rollouts.ts';

/**
 * Judges how held strata continue: somebody releases them, or a held group has all of their failures (P4). Then they do continue
 * by themselves (P11).
 */
export function judgeStrata({ verdicts, orders }: Night, of: SeenRollout, before: Rollout): void {
  const { id, strata } = of.rollout;
  const failuresOf = ({ stratum }: HeldStratum) =>
    [...of.upgrades.values()].filter(
      ({ identity, progress }) => identity.stratum === stratum && isFailed(progress.state),
    ).length;
  const isHeld = (label: string) => strata.held.some((each) => each.label === label);
  for (const held of before.strata.held) {
    if (isHeld(held.label)) continue;
    const { label, at, attributes, reason } = held;
    const isReleased = orders.isLifted(`stratum/${id}/${label}`) || orders.isLifted(`group/${label}`);
    const isTaken = strata.held.some(({ tookOver = [] }) =>
      tookOver.some((taken) => taken.label === label && taken.at === at),
    );
    const isGroups =
      isTaken && attributes === undefined && reason.kind === 'outlier' && failuresOf(held) === 0;
    verdicts.check('P4', isReleased || isGroups, `${label} of ${id} continues, and nobody released it`);
  }
  const hasMoved = before.strata.held.some(
    ({ label, unmoved }) =>
      unmoved === true && strata.held.some((each) => each.label === label && each.unmoved !== true),
  );
  // What somebody retries has no failure any more, and stays held.
  if (!hasMoved || of.isForgiven) return;
  const kept = strata.held.find(
    (held) => held.attributes === undefined && held.reason.kind === 'outlier' && failuresOf(held) === 0,
  );
  verdicts.check(
    'P11',
    kept === undefined,
    `${kept?.label} of ${id} stays held, and has no failure any more`,
  );
}
