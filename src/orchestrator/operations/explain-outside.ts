import type { Clock } from '../../base/time.ts';
import { hasAttributes } from '../../rollout/model/attributes.ts';
import type { FleetCollector } from '../../rollout/model/collector.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import type { RolloutView } from '../../rollout/model/rollout.ts';
import { stratumLabel } from '../../rollout/planning/group-collectors.ts';
import { waitsForNextRollout } from '../../rollout/planning/plan-joiners.ts';
import { chooseTarget, type TargetChoice } from '../../rollout/planning/target.ts';
import { explainUnplanned, unplanned } from '../../rollout/status/explain-unplanned.ts';
import type { FleetRegister } from '../ports/fleet-register.ts';
import type { Build } from '../ports/fleet-service.ts';
import type { ScanForecast } from '../ports/scan-book.ts';
import { acceptsLateJoiners } from '../scan/late-joiners.ts';
import { makePlanMemory } from '../scan/read-plan.ts';
import type { Asked } from './find-planned-collector.ts';
import type { KeptRecord } from './past-upgrades.ts';

type OutsideParts = Parameters<typeof makePlanMemory>[0] & {
  readonly register: FleetRegister;
  readonly clock: Clock;
  readonly forecast: ScanForecast;
};

/** A collector, and what the service answers about it. */
export interface Found extends Pick<FleetCollector, 'id' | 'name' | 'build'> {
  readonly ask: () => Promise<Asked>;
}

/** Data that is read once for all policies. */
export interface Asking extends Found {
  /** null: the service is unavailable. */
  readonly builds: () => Promise<readonly Build[] | null>;
}

/** A collector that no active rollout of the policy has. */
export async function explainOutside(
  parts: OutsideParts,
  policy: Policy,
  known: {
    readonly asking: Asking;
    readonly records: readonly KeptRecord[];
    readonly view: RolloutView | undefined;
  },
) {
  const { asking, records, view } = known;
  const asked = await asking.ask();
  if (asked.kind !== 'found') {
    if (asked.kind === 'none') return { ...unplanned({ kind: 'gone' }), target: null, stratum: null };
    const [own] = await parts.register.holdsOf([asking.id]);
    const held = own && { by: own.by, words: own.reason, subject: String(asking.id) };
    const why = unplanned({ kind: 'unknown', detail: asked.reason, held });
    return { ...why, target: null, stratum: null };
  }
  const { collector } = asked;
  const target = await targetOf(parts, policy, { asking, view });
  const held = await findHold(parts, collector);
  return {
    heldGroup: held?.label ?? null,
    target: target?.kind === 'chosen' ? target.build : null,
    stratum: stratumLabel(collector, policy.spreadBy),
    ...explainUnplanned(policy, collector, {
      ...{ target, past: records, held },
      nextScanAt: parts.forecast(policy.name, 1)[0] ?? null,
      untriedIn: view !== undefined && isUntriedIn(view, collector) ? view.rollout.id : null,
    }),
  };
}

function isUntriedIn({ rollout, groups }: RolloutView, collector: FleetCollector): boolean {
  return acceptsLateJoiners(rollout) && waitsForNextRollout(rollout, groups, collector);
}

/** Its own hold, or that of a group that it belongs to. */
async function findHold({ register }: Pick<OutsideParts, 'register'>, collector: FleetCollector) {
  const [own] = await register.holdsOf([collector.id]);
  if (own !== undefined) return { ...own, label: undefined };
  const { groups } = await register.holds();
  return groups.find(({ attributes }) => hasAttributes(collector, attributes));
}

/** The build of the running rollout, else the one that the next scan would choose. A rollback has other target builds. */
async function targetOf(
  parts: OutsideParts,
  policy: Policy,
  { asking, view }: { readonly asking: Asking; readonly view: RolloutView | undefined },
): Promise<TargetChoice | null> {
  const rollout = view?.rollout;
  if (rollout !== undefined && rollout.kind === 'upgrade' && rollout.state !== 'rollingBack')
    return { kind: 'chosen', build: rollout.plan.targetBuild };
  const builds = await asking.builds();
  if (builds === null) return null;
  const scope = { policy, history: [], at: parts.clock.now() };
  const { seen, held } = await makePlanMemory(parts, scope).recallBuilds(
    builds.map(({ version }) => version),
  );
  return chooseTarget(policy.target, builds, seen, held);
}
