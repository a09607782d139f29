import { describe, expect, expectTypeOf, it } from 'vitest';
import type { z } from 'zod';
import { CollectorExplanationBody } from '../../../../src/contract/admin/collector-explanation.ts';
import { AuditEntryBody, HeldThingsBody, HoldAnswerBody } from '../../../../src/contract/admin/holds.ts';
import { PolicyStatusesBody } from '../../../../src/contract/admin/policies.ts';
import { type RolloutEventBody, RolloutStatusBody } from '../../../../src/contract/admin/rollout-status.ts';
import type { PolicyStatuses } from '../../../../src/orchestrator/operations/list-policies.ts';
import type {
  ExplainResult,
  HeldThings,
  HoldResult,
} from '../../../../src/orchestrator/operations/operations.ts';
import type { AuditEntry } from '../../../../src/orchestrator/ports/fleet-register.ts';
import type { RolloutEvent } from '../../../../src/rollout/model/events.ts';
import type { RolloutStatus } from '../../../../src/rollout/status/status.ts';
import { startedAt } from '../../../support/builders.ts';
import { anExplanation, aRolloutStatus, aWaveStatus } from '../../../support/fake-operations.ts';
import { aGateStatus, aHeldStratum, aPolicyStatus, strataHolding } from '../../../support/status-parts.ts';

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
  it('tells of rollouts exactly what the core knows', () => {
    expectTypeOf<Agree<z.input<typeof RolloutStatusBody>, RolloutStatus>>().toEqualTypeOf<true>();
    expectTypeOf<Same<RolloutStatusBody, RolloutStatus>>().toEqualTypeOf<All>();
    expectTypeOf<Agree<keyof RolloutEventBody, keyof RolloutEvent>>().toEqualTypeOf<true>();
    // Names of events are open on the wire: a daemon newer than its reader has more of them (P13).
    expectTypeOf<RolloutEvent>().toExtend<RolloutEventBody>();
  });

  it('tells of holds, collectors and policies exactly what operations answer', () => {
    expectTypeOf<Same<HeldThingsBody, HeldThings>>().toEqualTypeOf<All>();
    expectTypeOf<Same<AuditEntryBody, AuditEntry>>().toEqualTypeOf<All>();
    type Done = Extract<HoldResult, { readonly kind: 'done' | 'unchanged' }>;
    expectTypeOf<Same<HoldAnswerBody, Done>>().toEqualTypeOf<All>();
    type Explained = Omit<Extract<ExplainResult, { readonly kind: 'explained' }>, 'kind'>;
    expectTypeOf<Same<CollectorExplanationBody, Explained>>().toEqualTypeOf<All>();
    expectTypeOf<Same<PolicyStatusesBody, PolicyStatuses>>().toEqualTypeOf<All>();
  });

  const word = { by: 'alice', reason: 'its disk is full', at: startedAt };
  const held: HeldThings = {
    builds: [{ build: '19.536-4', ...word }],
    collectors: [
      { collectorId: 7, ...word },
      { collectorId: 8, name: 'web-8', ...word },
    ],
    strata: [{ policy: 'production', isEnded: false, rolloutId: 'production-1', label: 'Linux', ...word }],
  };
  const policies: PolicyStatuses = {
    orphans: [{ id: 'first-20260302-1', policy: 'first', state: 'running' }],
    policies: [
      aPolicyStatus({ nextScanAt: null }),
      aPolicyStatus({ lastScan: { at: startedAt, outcome: 'failed', reason: 'the key is wrong' } }),
    ],
  };
  const status = aRolloutStatus({
    rollbackId: 'production-20260302-2',
    drift: { from: '11aa', joined: 1, left: 2, words: '1 joined, 2 left' },
    window: { isOpen: true, until: startedAt, reason: 'open', timeZone: 'UTC', ownZones: true },
    buildHold: { build: '19.536-4', ...word },
    strata: strataHolding(aHeldStratum()),
    waves: [aWaveStatus({ gates: [aGateStatus({ verdict: 'fail' })] })],
  });
  const attempt = {
    taskId: '4711',
    startedAt,
    endedAt: startedAt,
    state: 'failed',
    reason: 'no space',
  } as const;
  const rule = { path: 'select.exclude[1]', rule: { name: ['db-*'], id: [7], fields: { team: ['a'] } } };
  const past = {
    rollout: 'a-1',
    policy: 'a',
    kind: 'rollback',
    state: 'succeeded',
    reason: 'alive',
  } as const;
  const explanation: CollectorExplanationBody = {
    collectorId: 7,
    collectorName: 'web-7',
    build: '19.441-2',
    explanations: [
      anExplanation({ until: startedAt, attempts: [attempt, { ...attempt, taskId: null, endedAt: null }] }),
      anExplanation({ kind: 'excluded', rollout: null, wave: null, state: null, rule }),
    ],
    history: [{ ...past, fromBuild: '19.536-4', toBuild: '19.441-2', at: startedAt, attempts: [attempt] }],
  };
  const stratum = { kind: 'stratum', label: 'Linux', rolloutId: 'production-1' } as const;
  const answers: readonly HoldAnswerBody[] = [
    { kind: 'unchanged', subject: { kind: 'collector', collectorId: 7, name: 'web-7' } },
    { kind: 'done', subject: stratum, note: { kind: 'stratumEmpty', nearest: ['Linux / arm64'] } },
    {
      kind: 'done',
      subject: { kind: 'build', build: '19.536-44' },
      note: { kind: 'buildNotOffered', seenAt: startedAt, nearest: ['19.536-4'] },
    },
  ];

  it.each<readonly [what: string, body: z.ZodType, value: unknown]>([
    ['a rollout', RolloutStatusBody, status],
    ['what is held', HeldThingsBody, held],
    ['an audit entry', AuditEntryBody, { event: 'collector.held', subject: '7', ...word }],
    ['answers to holds', HoldAnswerBody.array(), answers],
    ['where a collector stands', CollectorExplanationBody, explanation],
    ['scans', PolicyStatusesBody, policies],
  ])('reads back %s, with nothing lost', (_what, body, value) => {
    expect(body.parse(JSON.parse(JSON.stringify(value)))).toEqual(value);
  });
});
