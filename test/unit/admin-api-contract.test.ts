import { describe, expect, expectTypeOf, it } from 'vitest';
import type { z } from 'zod';
import {
  type RolloutEventBody,
  RolloutStateName,
  RolloutStatusBody,
  type UpgradeStateName,
  upgradeStateNames,
  type WaveStateName,
} from '../../src/contract/rollout-status.ts';
import type { RolloutEvent } from '../../src/rollout/events.ts';
import { type RolloutState, rolloutStates, type WaveState } from '../../src/rollout/rollout.ts';
import type { RolloutStatus } from '../../src/rollout/status.ts';
import { type UpgradeState, upgradeStates } from '../../src/rollout/upgrade.ts';
import { aRolloutStatus } from '../support/fake-operations.ts';

/** Both directions, so that neither side can gain or lose a field alone; judged by the compiler. */
type Agree<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

describe('the contract of our own API', () => {
  it('tells of rollouts exactly what the core knows', () => {
    expectTypeOf<Agree<z.input<typeof RolloutStatusBody>, RolloutStatus>>().toEqualTypeOf<true>();
    expectTypeOf<Agree<RolloutStatusBody, RolloutStatus>>().toEqualTypeOf<true>();
    expectTypeOf<Agree<keyof RolloutStatusBody, keyof RolloutStatus>>().toEqualTypeOf<true>();
    expectTypeOf<Agree<keyof RolloutEventBody, keyof RolloutEvent>>().toEqualTypeOf<true>();
    // Names of events are open on the wire: a daemon newer than its reader has more of them (P13).
    expectTypeOf<RolloutEvent>().toExtend<RolloutEventBody>();
    expectTypeOf<Agree<z.infer<typeof UpgradeStateName>, UpgradeState>>().toEqualTypeOf<true>();
    expectTypeOf<Agree<z.infer<typeof WaveStateName>, WaveState>>().toEqualTypeOf<true>();
    expectTypeOf<Agree<z.infer<typeof RolloutStateName>, RolloutState>>().toEqualTypeOf<true>();
  });

  it('names the same states, in the same order', () => {
    expect(upgradeStateNames).toEqual(upgradeStates);
    expect(RolloutStateName.options).toEqual(rolloutStates);
  });

  it('reads back what was told, with nothing lost', () => {
    const status = aRolloutStatus();
    expect(RolloutStatusBody.parse(JSON.parse(JSON.stringify(status)))).toEqual(status);
  });
});
