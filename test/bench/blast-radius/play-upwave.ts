import type { DurationMs } from '../../../src/base/time.ts';
import {
  makeSharedAttributes,
  type SharedAttributes,
} from '../../../src/orchestrator/records/shared-attributes.ts';
import type { Stage } from '../../../src/rehearsal/play/engine.ts';
import { playRollout } from '../../../src/rehearsal/play/play-rollout.ts';
import type { FateOf } from '../../../src/rehearsal/world/fates.ts';
import { makeVirtualBudget } from '../../../src/rehearsal/world/virtual-budget.ts';
import { rolloutReasonText } from '../../../src/rollout/messages/rollout-reasons.ts';
import type { Policy } from '../../../src/rollout/model/policy.ts';
import type { HeldStratum } from '../../../src/rollout/model/rollout.ts';
import { beganAt, type Fleet, targetBuild } from './draw-fleet.ts';
import { carefulPolicy } from './policy.ts';

/** How one rollout went, until it ended or was held. */
export interface UpwavePlay {
  /** Collectors of the broken stratum for which a task was created. */
  readonly harmed: number;
  /** Upgraded collectors outside it, as a share of all planned there. */
  readonly othersDone: number;
  readonly makespanMs: DurationMs;
  /** The state it came to rest in, and why. */
  readonly state: string;
  readonly reason: string;
  /** It went as far as it can without an operator: only members of held strata are left. */
  readonly isThrough: boolean;
  readonly heldStrata: ReadonlyArray<Pick<HeldStratum, 'label' | 'reason' | 'attributes'>>;
  readonly brokenPromises: readonly string[];
}

export type UpwaveBrief = Pick<Stage, 'seed' | 'passPauseMs'> & {
  readonly policy?: Policy;
  readonly sharedAttributes?: SharedAttributes;
};

/**
 * One rollout in virtual time. Requests take no time: 50 slots ask for fewer than two a second, half of what the
 * service allows.
 * @param passPauseMs the leader's pause between two looks; no figure gets better by a longer one
 */
export async function playUpwave(
  { policy = carefulPolicy, sharedAttributes = makeSharedAttributes(), ...of }: UpwaveBrief,
  fleet: Fleet,
  fateOf: FateOf,
): Promise<UpwavePlay> {
  const { rollout, store, service, stoppedAt } = await playRollout({
    ...{ ...of, policy, sharedAttributes, fateOf, beganAt, targetBuild },
    snapshot: fleet.snapshot,
    budget: makeVirtualBudget(Number.POSITIVE_INFINITY, []),
    gates: { ask: async () => ({ kind: 'error', detail: 'no gate is asked here' }) },
    approvedAt: (from) => from,
  });
  const { state, reason, strata, waves } = rollout;
  const everyone = { offset: 0, limit: Number.MAX_SAFE_INTEGER };
  const succeeded = await store.listUpgrades(rollout.id, { ...everyone, state: 'succeeded' });
  const others = fleet.snapshot.collectors.length - fleet.broken.size;
  return {
    harmed: [...service.creates.keys()].filter((each) => fleet.broken.has(each)).length,
    othersDone:
      succeeded.filter(({ identity: { collectorId } }) => !fleet.broken.has(collectorId)).length / others,
    makespanMs: stoppedAt - beganAt,
    state,
    reason: rolloutReasonText(reason),
    isThrough: waves.every((wave) => wave.state === 'passed'),
    heldStrata: strata.held,
    brokenPromises: [...service.brokenPromises],
  };
}
