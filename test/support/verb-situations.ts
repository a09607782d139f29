import fc from 'fast-check';
import {
  isRolloutEnd,
  type RolloutView,
  rolloutStates,
  type WaveState,
} from '../../src/rollout/model/rollout.ts';
import { startedAt } from './builders.ts';
import { aViewOf } from './view-cases.ts';

/** Views that cover all conditions on which the legality of a verb depends. */
export const verbSituations: fc.Arbitrary<RolloutView> = fc
  .record({
    state: fc.constantFrom(...rolloutStates),
    kind: fc.constantFrom('upgrade' as const, 'rollback' as const),
    passed: fc.integer({ min: 0, max: 2 }),
    current: fc.constantFrom<WaveState>('waiting', 'awaitingApproval', 'open', 'soaking', 'passed'),
    isApproved: fc.boolean(),
    wantsApproval: fc.boolean(),
    isSkipped: fc.boolean(),
    failed: fc.integer({ min: 0, max: 2 }),
    retrying: fc.integer({ min: 0, max: 1 }),
    isBuildHeld: fc.boolean(),
    rollbackId: fc.constantFrom(null, 'production-20260302-2'),
    isOver: fc.boolean(),
  })
  .map(({ state, kind, passed, wantsApproval, failed, retrying, ...drawn }) => {
    // A rollout whose plan waits has no wave that has got anywhere.
    const isPlan = state === 'awaitingApproval';
    // Only a wave whose rule asks for it waits for approval.
    const current = drawn.current === 'awaitingApproval' && !wantsApproval ? 'waiting' : drawn.current;
    const waves = ['canary', 'early', 'rest'].map((name, wave) => {
      const reached = wave === passed ? current : wave < passed ? 'passed' : 'waiting';
      const soaks = !isPlan && reached === 'soaking';
      return {
        name,
        counts: wave === 0 && !isPlan ? { succeeded: 5, failed, retrying } : { pending: 5 },
        rule: { approval: wantsApproval },
        wave: {
          state: isPlan ? ('waiting' as const) : reached,
          soakEndsAt: soaks ? startedAt + 60_000 : null,
          soakSkippedAt: soaks && drawn.isSkipped ? startedAt : null,
          approvedAt: drawn.isApproved && !isPlan && wave <= passed ? startedAt : null,
        },
      };
    });
    return aViewOf({
      waves,
      policy: { approval: isPlan || wantsApproval },
      rollout: {
        state,
        kind,
        rollback: {
          original: kind === 'rollback' ? 'production-20260302-0' : null,
          startedAs: state === 'rollingBack' || state === 'rolledBack' ? drawn.rollbackId : null,
        },
        endedAt: isRolloutEnd(state) && drawn.isOver ? startedAt : null,
      },
      buildHold: drawn.isBuildHeld ? { build: '19.536-4', by: 'ann', reason: '', at: startedAt } : null,
    });
  });
