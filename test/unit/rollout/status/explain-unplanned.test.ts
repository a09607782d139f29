import { describe, expect, it } from 'vitest';
import type { FleetCollector } from '../../../../src/rollout/model/collector.ts';
import type { LeftBehind } from '../../../../src/rollout/model/left-behind.ts';
import type { Policy } from '../../../../src/rollout/model/policy.ts';
import { noRollback } from '../../../../src/rollout/model/rollout.ts';
import type { EndState } from '../../../../src/rollout/model/upgrade.ts';
import {
  explainUnplanned,
  type PastRecord,
  type UnplannedContext,
} from '../../../../src/rollout/status/explain-unplanned.ts';
import { aCollector, aPolicy, because } from '../../../support/builders.ts';
import { anEndedOne } from '../../../support/upgrade-cases.ts';

const target = '19.455-2';
const chosen = { kind: 'chosen', build: target } as const;
const aPast = (rollout: Partial<PastRecord['rollout']>, upgrade?: PastRecord['upgrade']): PastRecord => ({
  rollout: {
    id: 'production-1',
    kind: 'upgrade',
    state: 'finishedWithFailures',
    plan: { targetBuild: target },
    rollback: noRollback,
    ...rollout,
  },
  upgrade,
});
const ended = (state: EndState, reason = 'why') => anEndedOne(state, { reason: because(reason) });
const explain = (
  context: Partial<UnplannedContext> = {},
  collector: Partial<FleetCollector> = {},
  policy: Partial<Policy> = {},
) =>
  explainUnplanned(aPolicy(policy), aCollector(collector), {
    target: chosen,
    past: [],
    held: undefined,
    nextScanAt: 7_000,
    untriedIn: null,
    ...context,
  });

describe('why a policy does not plan a collector', () => {
  it('names the rule that excludes it, with its path', () => {
    const select = {
      include: {},
      exclude: [{ osName: ['Mac*'] }, { name: ['db-primary-*'], ephemeral: false }],
    };
    expect(explain({}, { name: 'db-primary-7' }, { select })).toEqual({
      kind: 'excluded',
      reason: 'excluded by select.exclude[1] {name: "db-primary-*", ephemeral: false}',
      until: null,
      rule: { path: 'select.exclude[1]', rule: select.exclude[1] },
    });
  });

  it('names the key that does not select it, also among fields', () => {
    const of = (include: Policy['select']['include']) =>
      explain({}, { fields: { team: 'core' } }, { select: { include, exclude: [] } });
    expect(of({ name: ['*'], osName: ['Windows*', 'AIX'] })).toMatchObject({
      kind: 'notSelected',
      reason: 'not selected by select.include.osName {osName: ["Windows*", "AIX"]}',
    });
    expect(of({ fields: { team: ['core'], tier: ['a'] } })).toMatchObject({
      rule: { path: 'select.include.fields.tier', rule: { fields: { tier: ['a'] } } },
    });
  });

  it('takes the target of the policy, not the build that a rollback went back to', () => {
    const past = [
      aPast(
        { id: 'production-2', kind: 'rollback', state: 'succeeded', plan: { targetBuild: '19.441-2' } },
        ended('succeeded'),
      ),
      aPast({ state: 'rolledBack' }, ended('rolledBack')),
    ];
    expect(explain({ past })).toEqual({
      kind: 'rolledBack',
      reason: `production-1 to ${target} was rolled back; start it with \`upwave start production\``,
      until: null,
      rule: null,
    });
    // A newer build is started by the schedule.
    expect(explain({ past, target: { kind: 'chosen', build: '19.500-1' } }).kind).toBe('eligible');
    expect(explain({ past }, { build: target }).kind).toBe('atTarget');
  });

  describe('on the build that a rollback left it on', () => {
    const leftBy = (...leftBehind: readonly LeftBehind[]) => {
      const rollback = { ...noRollback, leftBehind };
      const upgraded = anEndedOne('succeeded', {}, { collectorName: 'svr-1', toBuild: target });
      const past = [aPast({ state: 'rolledBack', rollback }, upgraded)];
      const why = { kind: 'buildHeld', build: target, reason: 'it crashes' } as const;
      const reasons = [chosen, { kind: 'none', why } as const].map(
        (each) => explain({ past, target: each }, { build: target }).reason,
      );
      // A hold of the build changes nothing for a collector that runs it.
      expect(reasons[1]).toBe(reasons[0]);
      return reasons[0];
    };
    const others = { count: 9, some: [{ name: 'other', had: '19.288-10' }] };
    const held = { why: { kind: 'held' }, ...others } as const;
    const notOffered = { why: { kind: 'buildNotOffered' }, ...others } as const;
    const named = [{ name: 'svr-1', had: '19.441-2' }];
    const stays = `stays on ${target}: the rollback left it out, because`;

    it.each<[string, readonly LeftBehind[], string]>([
      ['as the only reason', [notOffered], 'the service no longer offered 19.441-2, its previous build'],
      ['by its name', [notOffered, { ...held, some: named }], 'an operator held it'],
      [
        'by its previous build',
        [held, { ...notOffered, some: [{ name: 'other', had: '19.441-2' }] }],
        'the service no longer offered 19.441-2, its previous build',
      ],
    ])('shows the reason, known %s', (_how, left, reason) => {
      expect(leftBy(...left)).toBe(`${stays} ${reason}`);
    });

    it('shows how its own upgrade back ended', () => {
      const ended = { kind: 'heldToTheEnd', labels: ['osName=AIX'] } as const;
      const why = { kind: 'withdrawn', rollback: 'production-2' } as const;
      expect(leftBy({ why, count: 1, some: [{ name: 'svr-1', ended }] })).toMatch(
        /^stays on \S+: it left production-2 before its turn: .*osName=AIX/,
      );
    });

    it('leads to the status where the record does not tell', () => {
      const elsewhere =
        'stays on this build: the rollback of production-1 left it; `upwave status production-1` shows why';
      expect(leftBy(held, notOffered)).toBe(elsewhere);
      expect(leftBy({ ...held, count: 1 })).toBe(elsewhere);
    });
  });

  it('shows that the build is held, and which rollout to start after its release', () => {
    const why = { kind: 'buildHeld', build: target, reason: 'too many failures' } as const;
    const reason = `build ${target} is held: too many failures; to use it, run upwave release ${target}`;
    const past = [aPast({ state: 'aborted' })];
    expect(explain({ past, target: { kind: 'none', why } })).toMatchObject({
      kind: 'noTarget',
      reason: `${reason}; production-1 to ${target} was aborted; start it with \`upwave start production\``,
    });
    expect(explain({ target: { kind: 'none', why } }).reason).toBe(reason);
  });

  it('names the operator who holds it, before what stops the policy', () => {
    const held = { by: 'ann', reason: 'broken disk' };
    expect(explain({ held, past: [aPast({ state: 'aborted' })] })).toMatchObject({
      kind: 'held',
      reason: 'held by ann: broken disk; `upwave release 1` makes it eligible again',
    });
    expect(explain({ held: { ...held, reason: '', label: 'category=prod/db' } }).reason).toBe(
      'group category=prod/db is held by ann; `upwave release "category=prod/db"` makes it eligible again',
    );
  });

  it('shows where it failed on the same build, and how to retry it', () => {
    const past = [aPast({ id: 'production-3' }), aPast({}, ended('timedOut', 'no end within 35m'))];
    expect(explain({ past })).toMatchObject({
      kind: 'failedBefore',
      reason: 'timed out in production-1: no end within 35m; `upwave retry production-1` tries it again',
    });
    expect(explain({ past: [aPast({ plan: { targetBuild: '19.450-1' } }, ended('failed'))] }).kind).toBe(
      'eligible',
    );
  });

  it('shows when the next scan plans it, or that the running rollout has no canary for its stratum', () => {
    const reason = 'eligible, if the service offers it the upgrade: waits for the next scan';
    expect(explain({})).toMatchObject({ kind: 'eligible', reason, until: 7_000 });
    expect(explain({ untriedIn: 'production-2' })).toMatchObject({
      reason: 'eligible: the plan of production-2 lacks its stratum, so the next rollout tries it first',
      until: null,
    });
  });

  it('shows conditions that end by themselves, and what is unknown', () => {
    expect(explain({}, { alive: false })).toMatchObject({ kind: 'notAlive', reason: 'not alive' });
    expect(explain({ target: null }).kind).toBe('unknown');
    expect(explain({ past: [aPast({}, ended('withdrawn'))] }).kind).toBe('eligible');
  });
});
