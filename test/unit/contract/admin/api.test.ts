import { describe, expectTypeOf, it } from 'vitest';
import type { z } from 'zod';
import type { CollectorExplanationBody } from '../../../../src/contract/admin/collector-explanation.ts';
import type { AuditEntryBody, HeldThingsBody, HoldAnswerBody } from '../../../../src/contract/admin/holds.ts';
import type { PolicyStatusesBody } from '../../../../src/contract/admin/policies.ts';
import type { RolloutEventBody } from '../../../../src/contract/admin/rollout-event.ts';
import type { RolloutStatusBody } from '../../../../src/contract/admin/rollout-status.ts';
import type { PolicyStatuses } from '../../../../src/orchestrator/operations/list-policies.ts';
import type {
  ExplainResult,
  HeldThings,
  HoldResult,
} from '../../../../src/orchestrator/operations/operations.ts';
import type { AuditEntry } from '../../../../src/orchestrator/ports/fleet-register.ts';
import type { RolloutEvent } from '../../../../src/rollout/model/events.ts';
import type { RolloutStatus } from '../../../../src/rollout/status/status.ts';

/** Both directions, so that neither side can gain or lose a value alone; judged by the compiler. */
type Agree<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** Every name at every depth, of each kind by itself: a field that one side has more would still be assignable. */
type Names<T> = T extends readonly (infer Item)[]
  ? Names<Item>
  : T extends object
    ? { [Key in keyof T & string]: `${KindOf<T>}${Key}` | `${KindOf<T>}${Key}.${NamesIn<T[Key]>}` }[keyof T &
        string]
    : never;
type NamesIn<T> = Names<Exclude<T, undefined>> & string;
type KindOf<T> = T extends { readonly kind: infer Kind extends string } ? `${Kind}:` : '';
type Same<A, B> = [Agree<A, B>, Agree<Names<A>, Names<B>>];
type All = [true, true];

describe('the contract of our own API', () => {
  it('has exactly the fields of rollouts that the core has', () => {
    expectTypeOf<Agree<z.input<typeof RolloutStatusBody>, RolloutStatus>>().toEqualTypeOf<true>();
    expectTypeOf<Same<RolloutStatusBody, RolloutStatus>>().toEqualTypeOf<All>();
    expectTypeOf<Agree<keyof RolloutEventBody, keyof RolloutEvent>>().toEqualTypeOf<true>();
    // Names of events are open on the wire: a daemon newer than its reader has more of them (P13).
    expectTypeOf<RolloutEvent>().toExtend<RolloutEventBody>();
  });

  it('has exactly the fields of holds, collectors and policies that operations return', () => {
    expectTypeOf<Same<HeldThingsBody, HeldThings>>().toEqualTypeOf<All>();
    expectTypeOf<Same<AuditEntryBody, AuditEntry>>().toEqualTypeOf<All>();
    type Done = Extract<HoldResult, { readonly kind: 'done' | 'unchanged' }>;
    expectTypeOf<Same<HoldAnswerBody, Done>>().toEqualTypeOf<All>();
    type Explained = Omit<Extract<ExplainResult, { readonly kind: 'explained' }>, 'kind'>;
    expectTypeOf<Same<CollectorExplanationBody, Explained>>().toEqualTypeOf<All>();
    expectTypeOf<Same<PolicyStatusesBody, PolicyStatuses>>().toEqualTypeOf<All>();
  });
});
