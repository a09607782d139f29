import { formatAttributes } from '../../../src/rollout/model/attributes.ts';
import type { HeldStratum } from '../../../src/rollout/model/rollout.ts';
import { isFailed } from '../../../src/rollout/model/upgrade.ts';
import { type Chances, makeChances } from '../chances.ts';
import type { SeenRollout } from '../judge/seen-rollouts.ts';
import type { Night } from '../night.ts';
import { themeOf } from '../themes.ts';
import type { DaemonModel } from './daemon-model.ts';
import { holdSubject, letGo, stratumKeys } from './people.ts';

const minuteMs = 60_000;

/**
 * People who hold what the failed collectors of a held stratum share, so that the group takes the stratum over, and may hold the
 * stratum again. Later they release both, in either order.
 */
export function takeOverStrata(
  night: Night,
  daemons: () => readonly DaemonModel[],
): (of: SeenRollout) => void {
  const { setup, scheduler } = night;
  const chances = makeChances(setup.seed, 'takeovers');
  const isTheme = themeOf(setup) === 'takeover';
  const begun = new Set<string>();
  return (of) => {
    const { id, strata } = of.rollout;
    if (!setup.features.takeovers || setup.words === 0 || !night.isTroubled()) return;
    const held = strata.held.find(
      ({ label, attributes, reason }) =>
        reason.kind === 'outlier' && attributes === undefined && !begun.has(`${id}/${label}`),
    );
    if (held === undefined) return;
    begun.add(`${id}/${held.label}`);
    if (isTheme || chances.hit(0.3))
      scheduler.at(
        scheduler.now() + chances.int(1, 20) * minuteMs,
        () => void takeOver(night, daemons, chances, { of, held }),
      );
  };
}

async function takeOver(
  night: Night,
  daemons: () => readonly DaemonModel[],
  chances: Chances,
  { of, held }: { readonly of: SeenRollout; readonly held: HeldStratum },
): Promise<void> {
  const { scheduler } = night;
  const daemon = chances.some(daemons());
  const failed = failedIn(of, held);
  // A group of some of them leaves the stratum held.
  const group = chances.some(sharedBy(of, chances.hit(0.35) ? failed.slice(0, 1) : failed));
  if (daemon === undefined || group === undefined || !night.isTroubled()) return;
  await holdSubject(night, daemon.operations, {
    kind: 'holdGroup',
    of,
    subject: group,
    keys: [`group/${group}`],
  });
  if (chances.hit(0.4)) {
    const keys = stratumKeys(night, held.label);
    await holdSubject(night, daemon.operations, { kind: 'holdStratum', of, subject: held.label, keys });
  }
  for (const label of [group, held.label])
    scheduler.at(scheduler.now() + chances.int(10, 180) * minuteMs, () => {
      const other = chances.some(daemons());
      if (other !== undefined && night.isTroubled())
        void letGo(night, other.operations, label, stratumKeys(night, label));
    });
}

function failedIn({ upgrades }: SeenRollout, { stratum }: HeldStratum): readonly number[] {
  return [...upgrades.values()].flatMap(({ identity, progress }) =>
    identity.stratum === stratum && isFailed(progress.state) ? [identity.collectorId] : [],
  );
}

/** Groups that all of these collectors belong to, by one attribute or two. */
function sharedBy({ attributes: table }: SeenRollout, collectorIds: readonly number[]): readonly string[] {
  const ids = new Set(collectorIds);
  const rows = (table?.ids ?? []).flatMap((id, row) => (ids.has(id) ? [row] : []));
  const [first] = rows;
  if (table === undefined || first === undefined) return [];
  const shared = table.columns.flatMap(({ key, values, cells }) => {
    const cell = cells[first] ?? -1;
    const value = values[cell];
    const isGroup = value !== undefined && [...cells].some((each) => each !== cell);
    return isGroup && rows.every((row) => cells[row] === cell) ? [{ key, value }] : [];
  });
  const pairs = shared.slice(1).map((each, index) => [shared[index] ?? each, each]);
  return [...shared.map((each) => [each]), ...pairs].map(formatAttributes);
}
