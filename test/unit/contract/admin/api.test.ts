import { describe, expect, expectTypeOf, it } from 'vitest';
import type { z } from 'zod';
import { CollectorExplanationBody } from '../../../../src/contract/admin/collector-explanation.ts';
import { AuditEntryBody, HeldThingsBody, HoldAnswerBody } from '../../../../src/contract/admin/holds.ts';
import { PolicyStatusesBody } from '../../../../src/contract/admin/policies.ts';
import {
  type FailureClassName,
  failureClassNames,
  type RolloutEventBody,
  RolloutStateName,
  RolloutStatusBody,
  type RolloutVerbName,
  rolloutVerbNames,
  type UpgradeStateName,
  upgradeStateNames,
  type WaveStateName,
} from '../../../../src/contract/admin/rollout-status.ts';
import type { PolicyStatuses } from '../../../../src/orchestrator/operations/list-policies.ts';
import type {
  ExplainResult,
  HeldThings,
  HoldResult,
} from '../../../../src/orchestrator/operations/operations.ts';
import type { AuditEntry } from '../../../../src/orchestrator/ports/fleet-register.ts';
import type { RolloutEvent } from '../../../../src/rollout/model/events.ts';
import { type RolloutState, rolloutStates, type WaveState } from '../../../../src/rollout/model/rollout.ts';
import {
  type UpgradeFailureClass,
  type UpgradeState,
  upgradeFailureClasses,
  upgradeStates,
} from '../../../../src/rollout/model/upgrade.ts';
import type { Cause, CauseGroup } from '../../../../src/rollout/status/causes.ts';
import type { Eta } from '../../../../src/rollout/status/eta.ts';
import type { RolloutStatus, WaveStatus } from '../../../../src/rollout/status/status.ts';
import { type RolloutVerb, rolloutVerbs } from '../../../../src/rollout/verbs/verbs.ts';
import { startedAt } from '../../../support/builders.ts';
import { anExplanation, aRolloutStatus, aWaveStatus } from '../../../support/fake-operations.ts';

/** Both directions, so that neither side can gain or lose a field alone; judged by the compiler. */
type Agree<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

describe('the contract of our own API', () => {
  it('tells of rollouts exactly what the core knows', () => {
    expectTypeOf<Agree<z.input<typeof RolloutStatusBody>, RolloutStatus>>().toEqualTypeOf<true>();
    expectTypeOf<Agree<RolloutStatusBody, RolloutStatus>>().toEqualTypeOf<true>();
    expectTypeOf<Agree<keyof RolloutStatusBody, keyof RolloutStatus>>().toEqualTypeOf<true>();
    // A field that one side has more is still assignable to the other: names are compared at each depth.
    type WaveBody = RolloutStatusBody['waves'][number];
    expectTypeOf<Agree<keyof WaveBody, keyof WaveStatus>>().toEqualTypeOf<true>();
    type Gate = keyof WaveStatus['gates'][number];
    expectTypeOf<Agree<keyof WaveBody['gates'][number], Gate>>().toEqualTypeOf<true>();
    type Part = 'headline' | 'waitsFor' | 'window' | 'buildHold' | 'drift' | 'api' | 'strata';
    type Names<T> = { [P in Part]: P extends keyof T ? keyof NonNullable<T[P]> : never };
    expectTypeOf<Agree<Names<RolloutStatusBody>, Names<RolloutStatus>>>().toEqualTypeOf<true>();
    type Held<T extends { strata: { held: readonly object[] } }> = keyof T['strata']['held'][number];
    expectTypeOf<Agree<Held<RolloutStatusBody>, Held<RolloutStatus>>>().toEqualTypeOf<true>();
    type EtaKind = Eta['kind'];
    type EtaOf<T extends { kind: string }> = { [K in EtaKind]: keyof Extract<T, { kind: K }> };
    type EtaOfBody = EtaOf<NonNullable<RolloutStatusBody['eta']>>;
    expectTypeOf<Agree<EtaOfBody, EtaOf<Eta>>>().toEqualTypeOf<true>();
    type Group = RolloutStatusBody['causes'][number];
    expectTypeOf<Agree<keyof Group, keyof CauseGroup>>().toEqualTypeOf<true>();
    expectTypeOf<Agree<keyof Group['causes'][number], keyof Cause>>().toEqualTypeOf<true>();
    type StandstillOf<T extends { api: { standstill: object | null } | null }> = keyof NonNullable<
      NonNullable<T['api']>['standstill']
    >;
    expectTypeOf<Agree<StandstillOf<RolloutStatusBody>, StandstillOf<RolloutStatus>>>().toEqualTypeOf<true>();
    expectTypeOf<Agree<keyof RolloutEventBody, keyof RolloutEvent>>().toEqualTypeOf<true>();
    // Names of events are open on the wire: a daemon newer than its reader has more of them (P13).
    expectTypeOf<RolloutEvent>().toExtend<RolloutEventBody>();
    expectTypeOf<Agree<z.infer<typeof UpgradeStateName>, UpgradeState>>().toEqualTypeOf<true>();
    expectTypeOf<Agree<z.infer<typeof WaveStateName>, WaveState>>().toEqualTypeOf<true>();
    expectTypeOf<Agree<z.infer<typeof RolloutStateName>, RolloutState>>().toEqualTypeOf<true>();
    expectTypeOf<Agree<z.infer<typeof RolloutVerbName>, RolloutVerb>>().toEqualTypeOf<true>();
    expectTypeOf<Agree<z.infer<typeof FailureClassName>, UpgradeFailureClass>>().toEqualTypeOf<true>();
  });

  it('tells of holds and collectors exactly what operations answer', () => {
    expectTypeOf<Agree<HeldThingsBody, HeldThings>>().toEqualTypeOf<true>();
    expectTypeOf<Agree<AuditEntryBody, AuditEntry>>().toEqualTypeOf<true>();
    expectTypeOf<Agree<keyof AuditEntryBody, keyof AuditEntry>>().toEqualTypeOf<true>();
    type Held<T extends { readonly [K in keyof T]: readonly object[] }> = {
      [K in keyof T]: keyof T[K][number];
    };
    expectTypeOf<Agree<Held<HeldThingsBody>, Held<HeldThings>>>().toEqualTypeOf<true>();
    type Done = Extract<HoldResult, { readonly kind: 'done' | 'unchanged' }>;
    expectTypeOf<Agree<HoldAnswerBody, Done>>().toEqualTypeOf<true>();
    type Explained = Omit<Extract<ExplainResult, { readonly kind: 'explained' }>, 'kind'>;
    expectTypeOf<Agree<CollectorExplanationBody, Explained>>().toEqualTypeOf<true>();
  });

  it('tells of looks for work exactly what operations answer', () => {
    expectTypeOf<Agree<PolicyStatusesBody, PolicyStatuses>>().toEqualTypeOf<true>();
    expectTypeOf<Agree<keyof PolicyStatusesBody, keyof PolicyStatuses>>().toEqualTypeOf<true>();
    type Standing = keyof PolicyStatuses['policies'][number];
    expectTypeOf<Agree<keyof PolicyStatusesBody['policies'][number], Standing>>().toEqualTypeOf<true>();
    type Orphan = keyof PolicyStatuses['orphans'][number];
    expectTypeOf<Agree<keyof PolicyStatusesBody['orphans'][number], Orphan>>().toEqualTypeOf<true>();
    const standings: PolicyStatuses = {
      orphans: [{ id: 'first-20260302-1', policy: 'first', state: 'running' }],
      policies: [
        {
          policy: 'new',
          lastScan: null,
          lastGoodAt: null,
          nextScanAt: null,
          config: { kind: 'agreed', others: 0 },
        },
        {
          policy: 'old',
          lastScan: { at: startedAt, outcome: 'failed', reason: 'the key is wrong' },
          lastGoodAt: startedAt - 1,
          nextScanAt: startedAt + 1,
          config: { kind: 'agreed', others: 0 },
        },
      ],
    };
    expect(PolicyStatusesBody.parse(standings)).toEqual(standings);
  });

  it('names the same states, in the same order', () => {
    expect(upgradeStateNames).toEqual(upgradeStates);
    expect(RolloutStateName.options).toEqual(rolloutStates);
    expect(rolloutVerbNames).toEqual(rolloutVerbs);
    expect(failureClassNames).toEqual(upgradeFailureClasses);
  });

  it('reads back what was told, with nothing lost', () => {
    const status = aRolloutStatus({
      rollbackId: 'production-20260302-2',
      drift: { from: '11aa', joined: 1, left: 2, words: '1 came, 2 went' },
      window: { isOpen: true, until: startedAt, reason: 'open', timeZone: 'UTC', ownZones: true },
      buildHold: { build: '19.536-4', by: 'daemon', reason: 'it tripped a canary', at: startedAt },
      strata: {
        total: 2,
        held: [
          {
            label: 'Linux',
            kind: 'outlier',
            reason: '3 of 4 failed',
            by: 'daemon',
            at: startedAt,
            waiting: 7,
          },
        ],
        uncovered: { count: 1, labels: ['Windows'] },
      },
      waves: [
        aWaveStatus({
          gates: [
            {
              name: 'errors',
              verdict: 'fail',
              words: 'errors 0.93',
              value: 0.93,
              unanswered: 0,
              dryRun: false,
            },
          ],
        }),
      ],
    });
    expect(RolloutStatusBody.parse(JSON.parse(JSON.stringify(status)))).toEqual(status);
  });

  it('reads back what is held, who held it, and where a collector stands', () => {
    const word = { by: 'alice', reason: 'its disk is full', at: startedAt };
    const held: HeldThings = {
      builds: [{ build: '19.536-4', ...word }],
      collectors: [
        { collectorId: 7, ...word },
        { collectorId: 8, name: 'web-8', ...word },
      ],
      strata: [
        { policy: 'production', isEnded: false, rolloutId: 'production-20260302-1', label: 'Linux', ...word },
      ],
    };
    const entry: AuditEntry = { event: 'collector.held', subject: '7', ...word };
    const answers: HoldAnswerBody[] = [
      { kind: 'done', subject: { kind: 'build', build: '19.536-4' } },
      { kind: 'unchanged', subject: { kind: 'collector', collectorId: 7, name: 'web-7' } },
      {
        kind: 'done',
        subject: { kind: 'stratum', label: 'Linux', rolloutId: 'production-20260302-1' },
        note: { kind: 'stratumEmpty', nearest: ['Linux / arm64'] },
      },
      {
        kind: 'done',
        subject: { kind: 'build', build: '19.536-44' },
        note: { kind: 'buildNotOffered', seenAt: startedAt, nearest: ['19.536-4'] },
      },
    ];
    const attempt = {
      taskId: '4711',
      startedAt,
      endedAt: startedAt,
      state: 'failed',
      reason: 'no space',
    } as const;
    const explanation: CollectorExplanationBody = {
      collectorId: 7,
      collectorName: 'web-7',
      build: '19.441-2',
      explanations: [
        anExplanation({ until: startedAt, attempts: [attempt, { ...attempt, taskId: null, endedAt: null }] }),
        anExplanation({
          kind: 'excluded',
          rollout: null,
          wave: null,
          state: null,
          rule: { path: 'select.exclude[1]', rule: { name: ['db-*'], id: [7], fields: { team: ['a'] } } },
        }),
      ],
      history: [
        {
          rollout: 'a-1',
          policy: 'a',
          kind: 'rollback',
          state: 'succeeded',
          fromBuild: '19.536-4',
          toBuild: '19.441-2',
          at: startedAt,
          reason: 'on the build and alive',
          attempts: [attempt],
        },
      ],
    };
    expect(HeldThingsBody.parse(held)).toEqual(held);
    expect(AuditEntryBody.parse(entry)).toEqual(entry);
    for (const answer of answers) expect(HoldAnswerBody.parse(answer)).toEqual(answer);
    expect(CollectorExplanationBody.parse(explanation)).toEqual(explanation);
  });
});
