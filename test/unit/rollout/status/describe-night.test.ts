import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../../src/contract/admin/holds.ts';
import { evolveRollout } from '../../../../src/rollout/decision/evolve-rollout.ts';
import type { RolloutEvent } from '../../../../src/rollout/model/events.ts';
import type { Policy } from '../../../../src/rollout/model/policy.ts';
import type { Wave } from '../../../../src/rollout/model/rollout.ts';
import { describeNight } from '../../../../src/rollout/status/describe-night.ts';
import { aPrometheusGate, aStatus } from '../../../support/builders/gate-builders.ts';
import {
  aPolicy,
  aRollout,
  aWave,
  aWaveRule,
  type RolloutChanges,
  startedAt,
} from '../../../support/builders.ts';
import { aRolloutEvent } from '../../../support/fake-operations.ts';

const minute = 60_000;
const at = (minutes: number) => startedAt + minutes * minute;
const now = at(60);

type Happened = readonly [event: RolloutEvent['event'], minutes: number, changes?: Partial<RolloutEvent>];

const audited = (event: AuditEntry['event'], minutes: number, subject: string): AuditEntry => ({
  ...{ event, at: at(minutes), subject, by: 'bob', reason: 'INC-1' },
});

/** The night of a rollout after an hour. */
const nightOf = (changes: RolloutChanges, ...happened: readonly Happened[]) => {
  const events = happened.map(([event, minutes, more]) =>
    aRolloutEvent({ event, at: at(minutes), reason: '', ...more }),
  );
  return describeNight(aRollout(changes), events.toReversed(), now);
};
const of = { wave: 'rest' };
const inMinutes = (instant: number | null) => (instant === null ? null : (instant - startedAt) / minute);
const spansOf = (wave: Partial<Wave>, ...happened: readonly Happened[]) =>
  spansIn({ waves: [aWave(wave)] }, ...happened);
const spansIn = (changes: RolloutChanges, ...happened: readonly Happened[]) =>
  nightOf(changes, ...happened).lanes[0]?.spans.map(({ kind, from, to }) => [
    kind,
    inMinutes(from),
    inMinutes(to),
  ]);
const bandsIn = (changes: RolloutChanges, ...happened: readonly Happened[]) =>
  nightOf(changes, ...happened).bands.map(({ kind, from, to }) => [kind, inMinutes(from), inMinutes(to)]);

describe('the lane of a wave', () => {
  it('is empty before the wave opens', () => {
    expect(spansOf({ state: 'waiting', openedAt: null })).toEqual([]);
  });

  it('shows upgrades, the soak and the wait for the gate of a passed wave', () => {
    const wave = { state: 'passed', soakEndsAt: at(30), passedAt: at(35) } as const;
    expect(spansOf(wave, ['wave.soaking', 20, of], ['wave.passed', 35, of])).toEqual([
      ['upgrade', 0, 20],
      ['soak', 20, 30],
      ['gates', 30, 35],
    ]);
  });

  it('shows no wait for a gate that passes with the end of the soak', () => {
    const wave = { state: 'passed', soakEndsAt: at(30), passedAt: at(30) + 900 } as const;
    expect(spansOf(wave, ['wave.soaking', 20, of])?.map(([kind]) => kind)).toEqual(['upgrade', 'soak']);
  });

  it('lasts while the wave is open, and shows when a running soak is due to end', () => {
    expect(spansOf({ state: 'open' })).toEqual([['upgrade', 0, null]]);
    const soaking = nightOf({ waves: [aWave({ state: 'soaking', soakEndsAt: at(90) })] }, [
      'wave.soaking',
      50,
      of,
    ]);
    expect(soaking.lanes[0]?.spans[1]).toEqual({ kind: 'soak', from: at(50), to: null, dueAt: at(90) });
  });

  it('waits for its gate when the soak is over and the wave has not passed', () => {
    const wave = { state: 'soaking', soakEndsAt: at(40) } as const;
    expect(spansOf(wave, ['wave.soaking', 20, of])?.at(-1)).toEqual(['gates', 40, null]);
  });

  it('ends its soak where an operator skips it', () => {
    const wave = { state: 'passed', soakEndsAt: at(90), passedAt: at(26) } as const;
    const skipped = spansOf(wave, ['wave.soaking', 20, of], ['wave.soakSkipped', 25, of]);
    expect(skipped?.slice(1)).toEqual([
      ['soak', 20, 25],
      ['gates', 25, 26],
    ]);
  });

  it('shows the wait for an approval until that is given', () => {
    const asked: Happened = ['wave.awaitingApproval', 5, of];
    expect(spansOf({ state: 'awaitingApproval', openedAt: null }, asked)).toEqual([['approval', 5, null]]);
    expect(spansOf({ openedAt: at(16) }, asked, ['wave.approved', 15, of])?.[0]).toEqual(['approval', 5, 15]);
  });

  it('ends where the rollout stops, and goes back from there until the rollback has ended', () => {
    const begun: Happened = ['rollout.rollingBack', 20];
    expect(spansIn({ state: 'rollingBack' }, begun)).toEqual([
      ['upgrade', 0, 20],
      ['back', 20, null],
    ]);
    const ended = { state: 'rolledBack', endedAt: at(40) } as const;
    expect(spansIn(ended, begun, ['rollout.rolledBack', 39])?.at(-1)).toEqual(['back', 20, 39]);
    expect(spansIn({ state: 'aborted', endedAt: at(30) }, ['rollout.aborted', 25])).toEqual([
      ['upgrade', 0, 25],
    ]);
  });

  it('ends where its rollback is aborted', () => {
    const begun = aRolloutEvent({ event: 'rollout.rollingBack', at: at(20) });
    const rollout = aRollout({
      ...{ state: 'rolledBack', endedAt: at(40) },
      rollback: { startedAs: 'production-20260302-2' },
    });
    const audit = [
      audited('rollout.aborted', 30, 'production-20260302-2'),
      audited('rollout.aborted', 25, 'production-20260302-7'),
    ];
    const done = aRolloutEvent({ event: 'rollout.rolledBack', at: at(39) });
    const { lanes } = describeNight(rollout, [done, begun], now, audit);
    expect(lanes[0]?.spans.at(-1)).toMatchObject({ kind: 'back', from: at(20), to: at(30) });
  });

  it('ends where a rollback without a plan is aborted, and goes back again with the next one', () => {
    const happened: readonly Happened[] = [
      ...([
        ['rollout.rollingBack', 20],
        ['rollout.aborted', 30],
        ['rollout.rollingBack', 35],
      ] as const),
    ];
    expect(spansIn({ state: 'rollingBack' }, ...happened)?.slice(1)).toEqual([
      ['back', 20, 30],
      ['back', 35, null],
    ]);
  });

  it('is still open after an ended rollout was reopened', () => {
    expect(spansIn({}, ['rollout.aborted', 25], ['rollout.reopened', 30])).toEqual([['upgrade', 0, null]]);
  });

  it('goes back as a whole in a rollback', () => {
    expect(spansIn({ kind: 'rollback' })).toEqual([['back', 0, null]]);
  });
});

describe('the bands over all lanes', () => {
  it('are holds and pauses, each until the next change of the rollout', () => {
    const happened: readonly Happened[] = [
      ['rollout.paused', 5, { by: 'bob', reason: 'lunch' }],
      ['rollout.held', 10, { reason: 'wave rest: 3 failures, 2 allowed' }],
      ['rollout.resumed', 20, { by: 'alice' }],
      ['rollout.held', 30],
    ];
    expect(bandsIn({ state: 'held' }, ...happened)).toEqual([
      ['pause', 5, 10],
      ['hold', 10, 20],
      ['hold', 30, null],
    ]);
    expect(nightOf({}, ...happened).bands.slice(0, 2)).toMatchObject([
      { by: 'bob', reason: 'lunch' },
      { by: 'daemon', reason: 'wave rest: 3 failures, 2 allowed' },
    ]);
  });

  it.each(['aborted', 'rollingBack', 'superseded', 'finishedWithFailures'] as const)(
    'end with %s',
    (state) => {
      expect(bandsIn({}, ['rollout.held', 10], [`rollout.${state}`, 15])).toEqual([['hold', 10, 15]]);
    },
  );

  it('are the time for which its build was held, whoever held it, and only while it lasted', () => {
    const turn = (event: AuditEntry['event'], minutes: number, subject = aRollout().plan.targetBuild) => {
      return { event, at: at(minutes), subject, by: 'alice', reason: 'INC-1' };
    };
    const turns = [
      turn('build.held', -5),
      turn('build.released', 10),
      turn('build.held', 15, '1.0-1'),
      turn('build.held', 20),
    ];
    const bandsOf = (endedAt: number | null) =>
      describeNight(aRollout({ endedAt }), [], now, turns.toReversed()).bands.map(
        ({ kind, from, to, by }) => [kind, inMinutes(from), inMinutes(to), by],
      );
    expect(bandsOf(null)).toEqual([
      ['buildHold', 0, 10, 'alice'],
      ['buildHold', 20, null, 'alice'],
    ]);
    expect(bandsOf(at(30))[1]).toEqual(['buildHold', 20, 30, 'alice']);
    expect(bandsOf(at(15))).toHaveLength(1);
  });

  it('are the wait for the approval of the plan', () => {
    expect(bandsIn({ state: 'awaitingApproval' })).toEqual([['approval', 0, null]]);
    expect(bandsIn({}, ['rollout.approved', 12])).toEqual([['approval', 0, 12]]);
  });

  it('are an implausible inventory until it is plausible again, whatever else happens', () => {
    const happened: readonly Happened[] = [
      ['inventory.implausible', 5],
      ['rollout.held', 10],
      ['inventory.trusted', 15],
    ];
    expect(bandsIn({}, ...happened)).toEqual([
      ['inventory', 5, 15],
      ['hold', 10, null],
    ]);
  });

  // The rollout begins on a Monday at 21:00 UTC.
  const window = { days: [1], fromMinute: 22 * 60, toMinute: 23 * 60, timeZone: 'UTC' };
  const freeze = { from: '2026-03-02T20:00', to: '2026-03-02T21:45', timeZone: 'UTC', reason: 'audit' };
  const night = aPolicy({ windows: [window], freezes: [freeze] });

  it('are freezes with their reason and closed windows, until tomorrow', () => {
    expect(nightOf({ policy: night }).bands[0]).toEqual({
      ...{ kind: 'freeze', from: startedAt, to: expect.any(Number), reason: 'audit', by: '' },
    });
    expect(bandsIn({ policy: night }).map(([kind]) => kind)).toContain('window');
  });

  it('follow the calendar of each wave until it has passed', () => {
    const windows = [{ days: [], fromMinute: 0, toMinute: 60, timeZone: 'UTC' }];
    const waves = [aWaveRule({ name: 'a', windows: [] }), aWaveRule({ name: 'b', windows })];
    const passedAt = startedAt + 20 * minute;
    const bands = nightOf({
      policy: aPolicy({ waves }),
      waves: [aWave({ name: 'a', state: 'passed', passedAt }), aWave({ name: 'b' })],
    }).bands;
    expect(bands).toMatchObject([{ kind: 'window', from: passedAt }]);
  });

  it('are those for the last retries, after the last wave has passed', () => {
    const policy = aPolicy({ freezes: [{ ...freeze, from: '2026-03-02T21:20' }] });
    const passed = { policy, waves: [aWave({ state: 'passed', passedAt: at(10) })] } as const;
    expect(bandsIn(passed)).toEqual([['freeze', 20, 45]]);
    const ended = (endedAt: number) => bandsIn({ ...passed, state: 'succeeded', endedAt });
    expect(ended(at(50))).toEqual([['freeze', 20, 45]]);
    expect(ended(at(20) + 100)).toEqual([]);
    const reloaded = { kind: 'policyChanged', at: at(30), policy, generation: 2, differences: [] } as const;
    const rollout = evolveRollout(aRollout({ waves: passed.waves }), reloaded);
    const changed = aRolloutEvent({
      event: 'rollout.policyChanged',
      at: at(30),
      reasonKind: 'calendar',
    });
    const [freezeOfReload] = describeNight(rollout, [changed], now).bands;
    expect(freezeOfReload).toMatchObject({ kind: 'freeze', from: at(30), to: at(45) });
  });

  it('show the end of a freeze also where that is far away', () => {
    const long = (to: string) => bandsIn({ policy: aPolicy({ freezes: [{ ...freeze, to }] }) });
    expect(long('2026-03-06T21:00')).toEqual([['freeze', 0, 4 * 24 * 60]]);
    expect(long('2027-06-02T21:00')).toEqual([['freeze', 0, null]]);
  });

  it('show windows and freezes only from when a reload brought them', () => {
    const changed = (reasonKind?: string): Happened => [
      'rollout.policyChanged',
      30,
      reasonKind === undefined ? {} : { reasonKind },
    ];
    expect(bandsIn({ policy: night }, changed('limits'))[0]?.[1]).toBe(0);
    expect(bandsIn({ policy: night }, changed('calendar'))[0]?.[1]).toBe(30);
    expect(bandsIn({ policy: night }, changed())[0]?.[1]).toBe(30);
  });

  it.each(['upgrade', 'rollback'] as const)('show a freeze that reloads began and ended: %s', (kind) => {
    const frozen = aPolicy({ freezes: [{ ...freeze, to: '2026-03-03T06:00' }] });
    const reloaded = (policy: Policy, minutes: number) =>
      ({ kind: 'policyChanged', at: at(minutes), policy, generation: 2, differences: [] }) as const;
    const rollout = [
      reloaded(frozen, 20),
      reloaded({ ...frozen, concurrency: 3 }, 25),
      reloaded(aPolicy(), 30),
    ].reduce(evolveRollout, aRollout({ kind }));
    const changed = (minutes: number, reasonKind = 'calendar') =>
      aRolloutEvent({ event: 'rollout.policyChanged', at: at(minutes), reasonKind });
    const events = [changed(30), changed(25, 'limits'), changed(20)];
    const expected = { kind: 'freeze', from: at(20), to: at(30), reason: 'audit', by: '' };
    expect(describeNight(rollout, events, now).bands).toEqual([expected]);
    // A daemon of an earlier version changed the calendar before, and did not keep it.
    const withEarlier = [...events, changed(10)];
    expect(describeNight(rollout, withEarlier, now).bands).toEqual([expected]);
  });

  it('show a freeze as one although a reload changes others, and none before a calendar that was not kept', () => {
    const early = { from: '2026-03-02T20:00', to: '2026-03-02T21:05', timeZone: 'UTC', reason: 'early' };
    const policy = aPolicy({ freezes: [early, { ...freeze, from: '2026-03-02T21:20' }] });
    const present = aPolicy({ freezes: policy.freezes.slice(1) });
    const fact = { kind: 'policyChanged', at: at(30), policy: present, generation: 2 } as const;
    const rollout = evolveRollout(aRollout({ policy }), { ...fact, differences: [] });
    const bandsAfter = (...happened: readonly number[]) => {
      const events = happened.map((minutes) =>
        aRolloutEvent({ event: 'rollout.policyChanged', at: at(minutes), reasonKind: 'calendar' }),
      );
      return describeNight(rollout, events, now).bands.map(({ reason, from, to }) => [
        reason,
        inMinutes(from),
        inMinutes(to),
      ]);
    };
    expect(bandsAfter(30)).toEqual([
      ['early', 0, 5],
      ['audit', 20, 45],
    ]);
    expect(bandsAfter(30, 10)).toEqual([['audit', 20, 45]]);
  });

  it('follow the calendar of the policy while the collectors of all waves go back', () => {
    const windows = [{ days: [], fromMinute: 0, toMinute: 60, timeZone: 'UTC' }];
    const policy = aPolicy({
      freezes: [{ ...freeze, from: '2026-03-02T21:30' }],
      waves: [aWaveRule({ windows: [] }), aWaveRule({ windows })],
    });
    const passed = aWave({ state: 'passed', passedAt: at(5) });
    const begun: Happened = ['rollout.rollingBack', 20];
    expect(bandsIn({ policy, waves: [passed, aWave()] }, begun)).toEqual([
      ['window', 5, 20],
      ['freeze', 30, 45],
    ]);
    expect(bandsIn({ policy, waves: [passed, { ...passed, passedAt: at(10) }] }, begun)).toEqual([
      ['window', 5, 20],
      ['freeze', 30, 45],
    ]);
    const anyTime = { policy, waves: [passed, aWave()], rollback: { anyTime: true } };
    expect(bandsIn(anyTime, begun)).toEqual([['window', 5, 20]]);
  });

  it('show none after an operator lifted the windows', () => {
    const lifted = { policy: night, rollback: { anyTime: true } };
    const ends = bandsIn(lifted, ['rollout.windowsLifted', 10]).map(([, , to]) => to);
    expect(ends).toEqual([10]);
    expect(bandsIn(lifted)).toEqual([]);
  });
});

describe('the marks', () => {
  it('are verbs with who, without what spans and bands show, and without upgrades', () => {
    const { marks } = nightOf(
      {},
      ['rollout.planned', 0, { by: 'schedule' }],
      ['wave.opened', 1, of],
      ['upgrade.failed', 2],
      ['rollout.held', 3],
      ['rollout.resumed', 4, { by: 'alice', reason: 'known' }],
      ['wave.approved', 5, { ...of, by: 'bob' }],
    );
    expect(marks).toEqual([
      { kind: 'event', at: at(0), event: 'rollout.planned', wave: null, reason: '', by: 'schedule' },
      { kind: 'event', at: at(4), event: 'rollout.resumed', wave: null, reason: 'known', by: 'alice' },
      { kind: 'event', at: at(5), event: 'wave.approved', wave: 'rest', reason: '', by: 'bob' },
    ]);
  });

  it('are retries, with what was retried', () => {
    const { id } = aRollout();
    const audit = [
      audited('rollout.retried', 9, `${id}0 2 failures`),
      audited('rollout.retried', 7, `${id} 1 of 3 failures ("disk full")`),
      audited('rollout.paused', 5, id),
    ];
    const resumed = aRolloutEvent({ event: 'rollout.resumed', at: at(8), reason: '' });
    expect(describeNight(aRollout(), [resumed], now, audit).marks).toMatchObject([
      {
        ...{ kind: 'event', at: at(7), event: 'rollout.retried', wave: null, reason: 'INC-1', by: 'bob' },
        subject: '1 of 3 failures ("disk full")',
      },
      { at: at(8), event: 'rollout.resumed' },
    ]);
  });

  it('are the abort of its rollback', () => {
    const rollback = { startedAs: 'production-20260302-2' };
    const audit = [
      audited('rollout.aborted', 30, 'production-20260302-2'),
      audited('rollout.aborted', 25, 'production-20260302-7'),
    ];
    expect(describeNight(aRollout({ state: 'rollingBack', rollback }), [], now, audit).marks).toEqual([
      {
        ...{ kind: 'event', at: at(30), event: 'rollout.aborted', wave: null, reason: 'INC-1', by: 'bob' },
        subject: 'production-20260302-2',
      },
    ]);
    expect(describeNight(aRollout(), [], now, audit).marks).toEqual([]);
  });

  it('are gate results that changed, and the last one, each value with its limit', () => {
    const values = [0.9, 0.91, 0.995, 0.996, 0.997];
    const samples = values.map((value, index) => ({
      ...({ at: at(10 + index), value, verdict: value >= 0.99 ? 'met' : 'missed' } as const),
    }));
    const policy = aPolicy({ waves: [aWaveRule({ gates: [aPrometheusGate()] })] });
    const { marks } = nightOf({ policy, waves: [aWave({ gates: [aStatus({ samples })] })] });
    expect(
      marks.map((mark) => mark.kind === 'gate' && [inMinutes(mark.at), mark.verdict, mark.value]),
    ).toEqual([
      [10, 'missed', 0.9],
      [12, 'met', 0.995],
      [14, 'met', 0.997],
    ]);
    expect(marks[0]).toMatchObject({
      wave: 'rest',
      gate: 'prometheus',
      expect: { operator: '>=', value: 0.99 },
    });
  });

  it('are the newest 200', () => {
    const { marks } = nightOf(
      {},
      ...Array.from({ length: 210 }, (_, n): Happened => ['rollout.joined', n / 10]),
    );
    expect([marks.length, inMinutes(marks[0]?.at ?? 0)]).toEqual([200, 1]);
  });
});
