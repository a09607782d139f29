import { describe, expect, it } from 'vitest';
import type { RolloutStatus } from '../../../../src/contract/admin/rollout-status.ts';
import { noticeText } from '../../../../src/rollout/messages/notices.ts';
import { needsPersonNow } from '../../../../src/rollout/model/notice.ts';
import { type AnnouncedRollout, dueOfRollout } from '../../../../src/rollout/notices/due-notices.ts';
import { dueOfPolicy, type ScanReading } from '../../../../src/rollout/notices/due-of-policy.ts';
import { startedAt } from '../../../support/builders.ts';
import { aRolloutStatus, aWaveStatus, countsOf } from '../../../support/fake-operations.ts';
import { aCause, aHeldStratum, strataHolding } from '../../../support/status-parts.ts';

const minute = 60_000;
const gracePeriodMs = 60 * minute;

/** Reads these statuses one after the other, a minute apart. @returns what was announced at each */
function announced(...statuses: readonly RolloutStatus[]): string[][] {
  let announced: AnnouncedRollout | undefined;
  return statuses.map((status, index) => {
    const due = dueOfRollout(announced, status, {
      now: startedAt + index * minute,
      since: startedAt,
      gracePeriodMs,
    });
    announced = due.announced;
    return due.notices.map(({ details, phase }) =>
      phase === 'once' ? details.event : `${details.event} ${phase}`,
    );
  });
}

const firstNotices = (status: RolloutStatus) =>
  dueOfRollout(undefined, status, { now: startedAt, since: startedAt, gracePeriodMs }).notices;

const running = aRolloutStatus();
const held = aRolloutStatus({
  state: 'held',
  hold: 7,
  reason: 'wave canary: 3 failures, 2 allowed',
  verbs: ['resume', 'abort'],
});
const ended = aRolloutStatus({
  state: 'finishedWithFailures',
  endedAt: startedAt + 9 * minute,
  reason: 'wave rest: all upgrades ended',
});
const approval = aRolloutStatus({
  waves: [
    aWaveStatus({ state: 'passed' }),
    aWaveStatus({ name: 'rest', state: 'awaitingApproval', waits: 'approval' }),
  ],
  verbs: ['approve', 'abort'],
});

it('needs a person for a held stratum only while collectors wait for its release', () => {
  const raised = (waiting: number) =>
    firstNotices(aRolloutStatus({ strata: strataHolding(aHeldStratum({ waiting })) })).find(
      ({ details }) => details.event === 'stratumHeld',
    );
  expect([raised(5), raised(0)].map((notice) => notice && needsPersonNow(notice))).toEqual([true, false]);
});

describe('the end of a hold', () => {
  const overOf = (next: Parameters<typeof aRolloutStatus>[0]) => {
    const at = { now: startedAt, since: startedAt, gracePeriodMs };
    const { announced } = dueOfRollout(undefined, held, at);
    const { notices } = dueOfRollout(announced, aRolloutStatus(next), { ...at, now: startedAt + minute });
    const [over] = notices.filter(({ phase }) => phase === 'over').map(noticeText);
    return over;
  };

  it.each([
    ['rollingBack', 'rolling back'],
    ['aborted', 'aborted'],
    ['paused', 'paused'],
  ] as const)('by a person who does not resume it is no good news: %s', (state, words) => {
    const endedAt = state === 'aborted' ? startedAt : null;
    expect(overOf({ state, reason: 'by alice: bad build', endedAt })).toMatchObject({
      tone: 'late',
      title: `production: no longer held, but ${words}`,
      cause: expect.stringMatching(/^By alice: bad build\. About "held" of /),
    });
  });

  it('by `resume` is good news, and names who resumed', () => {
    expect(overOf({ reason: 'by ann: disks cleaned' })).toMatchObject({
      tone: 'good',
      title: 'production: no longer held',
      cause: expect.stringMatching(/^By ann: disks cleaned\. About "held" of /),
    });
  });

  it('of a policy that was missing does not name who started the rollout', () => {
    const missing = { kind: 'policyMissing', needsPerson: true } as const;
    const at = { now: startedAt, since: startedAt, gracePeriodMs };
    const reason = 'by ann: tonight';
    const { announced } = dueOfRollout(undefined, { ...aRolloutStatus({ reason }), headline: missing }, at);
    const { notices } = dueOfRollout(announced, aRolloutStatus({ reason }), at);
    const [over] = notices.filter(({ phase }) => phase === 'over').map(noticeText);
    expect(over?.cause).toMatch(/^About "held" of /);
  });

  it('by another hold has the reason of that hold in its own message alone', () => {
    const [number, reason] = [8, 'wave rest: 11 failures, 10 allowed'];
    const next = { state: 'held', headline: held.headline, hold: number, reason } as const;
    expect(overOf(next)?.cause).toMatch(/^About "held" of /);
  });
});

describe('the end of the hold of a stratum', () => {
  const stratum = aHeldStratum({ label: 'Windows Server 2016 / amd64' });
  const group = aHeldStratum({ label: 'osName=Windows Server 2016', by: 'bob', at: startedAt + minute });
  const overOf = (...held: readonly (typeof stratum)[]) => {
    const at = { now: startedAt, since: startedAt, gracePeriodMs };
    const { announced } = dueOfRollout(undefined, aRolloutStatus({ strata: strataHolding(stratum) }), at);
    const next = aRolloutStatus({ strata: strataHolding(...held) });
    const { notices } = dueOfRollout(announced, next, { ...at, now: startedAt + minute });
    const [over] = notices.filter(({ phase }) => phase === 'over').map(noticeText);
    return over;
  };
  const title = 'production: stratum Windows Server 2016 / amd64 is no longer held';

  it('is no good news where a held group has its collectors', () => {
    const taken = { label: stratum.label, at: stratum.at, remaining: 0 };
    const heldAs = `are held as group osName=Windows Server 2016`;
    expect(overOf({ ...group, tookOver: [taken] })).toMatchObject({
      ...{ tone: 'late', title: `${title}: its collectors ${heldAs}, by bob` },
      cause: expect.stringMatching(/^About "stratum Windows Server 2016 /),
    });
    expect(overOf({ ...group, by: 'daemon', tookOver: [{ ...taken, remaining: 4 }] })).toMatchObject({
      ...{ tone: 'late', title: `${title}: its failed collectors ${heldAs}` },
      cause: expect.stringMatching(/^4 other collectors of it can start\. About /),
    });
  });

  it('is no good news where a person holds it then', () => {
    const byBob = { ...stratum, by: 'bob', at: startedAt + minute };
    expect(overOf(byBob)).toMatchObject({ tone: 'late', title: `${title} by the daemon, but by bob` });
  });

  it('is good news after a release, also while a group is held', () => {
    expect(overOf()).toMatchObject({ tone: 'good', title });
    // The group took it when it had been held before.
    const earlier = { label: stratum.label, at: stratum.at - minute, remaining: 0 };
    expect(overOf({ ...group, tookOver: [earlier] })).toMatchObject({ tone: 'good', title });
  });
});

describe('the notifications of a rollout', () => {
  const passed = [aWaveStatus({ state: 'passed' })];
  const [start, end] = [['started'], ['finished']];
  const bothHolds = ['held over', 'held raised'];
  const approvalNeeded = ['wavePassed', 'approvalNeeded raised'];
  const whole = ['started', 'wavePassed', 'finished'];
  const stratumEvents = [start, ['stratumHeld raised'], ['stratumHeld over']];
  const old = { createdAt: startedAt - minute };
  const heldAgain = aRolloutStatus({ state: 'held', hold: 9 });
  const endedAgain = aRolloutStatus({ state: 'succeeded', endedAt: startedAt + 20 * minute });
  const paused = aRolloutStatus({ state: 'paused', hold: 3 });
  const rollingBack: RolloutStatus = {
    ...aRolloutStatus({ state: 'rollingBack' }),
    headline: { kind: 'rollingBack', needsPerson: true },
  };
  const stratumHeld = (by: string) => {
    return aRolloutStatus({ strata: strataHolding(aHeldStratum({ by })) });
  };

  const twoHeld = ['stratumHeld raised', 'stratumHeld raised'];
  const strataHeld = (count: number) => {
    const held = Array.from({ length: count }, (_, index) =>
      aHeldStratum({ label: `s${index}`, at: startedAt + index }),
    );
    return aRolloutStatus({ strata: strataHolding(...held) });
  };

  it.each<[string, readonly RolloutStatus[], readonly (readonly string[])[]]>([
    ['its start once, however often it is read', [running, running, running], [['started'], [], []]],
    ['a hold and its end', [running, held, held, running], [start, ['held raised'], [], ['held over']]],
    // Between two readings, since a person who resumed has to know.
    ['another hold that follows the first', [held, heldAgain], [[...start, 'held raised'], bothHolds]],
    ['a wave that passed, and the next approval', [running, approval], [start, approvalNeeded]],
    ['everything in order at its end', [{ ...ended, waves: passed }, ended], [whole, []]],
    ['a second end, once opened again', [ended, running, endedAgain], [[...start, ...end], [], end]],
    ['nothing of a wave older than the installation', [aRolloutStatus({ ...old, waves: passed })], [[]]],
    ['no end older than the installation', [{ ...ended, ...old }], [[]]],
    ['a hold older than the installation, which needs a person', [{ ...held, ...old }], [['held raised']]],
    ['no pause of an operator, who knows', [running, paused], [['started'], []]],
    ['no stratum held by an operator, who knows', [running, stratumHeld('root')], [['started'], []]],
    [
      'nothing that is open of a rollout that has ended',
      [{ ...stratumHeld('daemon'), endedAt: startedAt }],
      [whole.filter((event) => event !== 'wavePassed')],
    ],
    ['no stop of a rollback by the rollout that it takes back', [rollingBack], [['started']]],
    ['a stratum held by the daemon', [running, stratumHeld('daemon'), running], stratumEvents],
    [
      'a few strata one by one, and all further ones at once: a bad build holds dozens',
      [running, strataHeld(2), strataHeld(6), strataHeld(9), running],
      [start, twoHeld, twoHeld, [], Array.from({ length: 4 }, () => 'stratumHeld over')],
    ],
  ])('are %s', (_what, statuses, expected) => {
    expect(announced(...statuses)).toEqual(expected);
  });

  it('have another id when an approval is needed again, so that no receiver takes it for the first', () => {
    const raised = (announcedBefore: AnnouncedRollout | undefined, status: RolloutStatus, now: number) =>
      dueOfRollout(announcedBefore, status, { now, since: startedAt, gracePeriodMs: 60 * minute });
    const first = raised(undefined, approval, startedAt);
    const over = raised(first.announced, { ...approval, ...paused }, startedAt + minute);
    const again = raised(over.announced, approval, startedAt + 2 * minute);
    const ids = [first, over, again].flatMap(({ notices }) =>
      notices.filter(({ details }) => details.event === 'approvalNeeded').map(({ id }) => id),
    );
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(3);
    expect(raised(again.announced, approval, startedAt + 3 * minute).notices).toEqual([]);
  });

  it('have the reason of the hold, or that of the blocker', () => {
    const blockers = [{ kind: 'account', reason: 'another account', until: null }] as const;
    const reasonOf = (status: RolloutStatus) => firstNotices(status).at(-1)?.details;
    expect(reasonOf({ ...held, blockers })).toMatchObject({ event: 'held', reason: held.reason });
    const headline = { kind: 'otherAccount', needsPerson: true } as const;
    expect(reasonOf({ ...running, headline, blockers })).toMatchObject({ reason: 'another account' });
  });

  it('include the command that approves a wave', () => {
    expect(firstNotices(approval).at(-1)?.commands).toEqual([
      'upwave approve production --wave rest',
      'upwave abort production',
    ]);
  });

  it('report no progress once no upgrade ended for the grace period, but not during a wait for a known instant', () => {
    const at = (changes: Partial<RolloutStatus>, readings = 70) =>
      announced(...Array.from({ length: readings }, () => ({ ...running, ...changes }))).flat();
    expect(at({})).toEqual(['started', 'noProgress raised']);
    expect(at({}, 60)).toEqual(['started']);
    const soak = { kind: 'soak', reason: '', until: startedAt + 999 * minute } as const;
    expect(at({ blockers: [soak] })).toEqual(['started']);
    expect(at({ headline: { kind: 'waitsForWindow', needsPerson: false } })).toEqual(['started']);
  });

  it('name the report at the end: its files, or the command that writes it', () => {
    const at = { now: startedAt, since: startedAt, gracePeriodMs };
    const endOf = (reports: readonly string[]) => {
      const notice = dueOfRollout(undefined, ended, { ...at, reports }).notices.at(-1);
      return notice && { cause: noticeText(notice).cause, commands: notice.commands };
    };
    const id = ended.id;
    expect(endOf([])).toEqual({
      cause: 'wave rest: all upgrades ended',
      commands: [`upwave status ${id}`, `upwave report ${id}`],
    });
    expect(endOf(['/reports/a.html', '/reports/b.html'])).toEqual({
      cause: 'wave rest: all upgrades ended. Report: /reports/a.html, /reports/b.html',
      commands: [`upwave status ${id}`],
    });
  });

  it('have a title, the cause, the numbers and the commands', () => {
    const causes = [
      { of: 'failed', total: 3, causes: [aCause({ count: 3 })], others: { count: 0, causes: 0, unread: 0 } },
    ] as const;
    const sharedAttribute = {
      attributes: [{ key: 'osName', value: 'Windows*' }],
      ...{ failed: 3, tried: 3, elsewhere: { failed: 0, tried: 40 }, share: 0.1 },
    };
    const notice = firstNotices({ ...held, causes, sharedAttribute }).at(-1);
    expect(notice && noticeText(notice)).toEqual({
      tone: 'bad',
      figures: expect.objectContaining({ where: 'To build 19.536-4' }),
      title: 'production: held',
      cause: 'wave canary: 3 failures, 2 allowed',
      numbers: 'To build 19.536-4: 1 of 10 succeeded, 0 failed, 1 in flight, 8 to do.',
      causes: [
        'all 3 failures have osName=Windows* (3 of 3 there, 0 of 40 elsewhere)',
        '3 failed: permission denied',
      ],
      commands: [
        "upwave hold 'osName=Windows*'",
        'upwave resume production --hold 7',
        'upwave abort production',
      ],
    });
    const figures = notice?.figures;
    if (notice === undefined || figures == null) throw new Error('no figures');
    expect(noticeText({ ...notice, figures: { ...figures, kind: 'rollback' } })).toMatchObject({
      title: 'rollback of production: held',
      numbers: expect.stringMatching(/^Back to the builds before: 1 of 10 /),
    });
  });

  it('count every planned collector of an ended rollout, also those withdrawn and rolled back', () => {
    const textOf = (changes: Partial<RolloutStatus>) => {
      const notice = firstNotices({ ...ended, inFlight: 0, ...changes }).at(-1);
      return notice && noticeText(notice);
    };
    const withdrawn = textOf({
      planned: 77,
      counts: countsOf({ succeeded: 58, failed: 15, withdrawn: 4 }),
    });
    expect(withdrawn?.numbers).toBe(
      'To build 19.536-4: 58 of 77 succeeded, 15 failed, 4 withdrawn, 0 in flight, 0 to do.',
    );
    const back = textOf({
      ...{ state: 'rolledBack', planned: 1_608 },
      counts: countsOf({ succeeded: 66, failed: 3, rolledBack: 1_539 }),
    });
    expect(back?.numbers).toContain('66 of 1,608 succeeded, 3 failed, 1,539 rolled back, 0 in flight,');
    expect(back?.figures?.values.map(({ name, value }) => `${name} ${value}`)).toEqual([
      ...['Succeeded 66 of 1,608', 'Failed 3', 'Rolled back 1,539', 'In flight 0', 'To do 0'],
    ]);
  });
});

describe('a rollout that is rolled back', () => {
  const strata = strataHolding(aHeldStratum());
  const stratumHeld = aRolloutStatus({ strata });
  const aborted = aRolloutStatus({ state: 'aborted', strata, endedAt: startedAt + 9 * minute });
  const rollingBack = aRolloutStatus({ state: 'rollingBack', rollbackId: 'production-20260302-2', strata });
  const rolledBack = aRolloutStatus({ state: 'rolledBack', strata, endedAt: startedAt + 20 * minute });
  const overAndFinished = ['stratumHeld over', 'finished'];

  it('asks nobody about its held strata, also when it had ended before', () => {
    expect(announced(stratumHeld, aborted, rollingBack, rolledBack)).toEqual([
      ['started', 'stratumHeld raised'],
      overAndFinished,
      [],
      ['finished'],
    ]);
  });

  it.each<[string, RolloutStatus]>([
    ['its rollback begins', rollingBack],
    ['it is aborted, before its last upgrades end', { ...aborted, endedAt: null }],
  ])('ends an open incident once, when %s', (_when, next) => {
    expect(announced(stratumHeld, next, next, rolledBack)).toEqual([
      ['started', 'stratumHeld raised'],
      ['stratumHeld over'],
      [],
      ['finished'],
    ]);
  });

  it('leaves it to its rollback to report a missing policy', () => {
    const headline = { kind: 'policyMissing', needsPerson: true } as const;
    expect(announced({ ...rollingBack, headline })).toEqual([['started']]);
  });

  it('leaves it to its rollback to report that there is no progress, once that is planned', () => {
    const over = (status: RolloutStatus) => announced(...Array.from({ length: 70 }, () => status)).flat();
    expect(over(rollingBack)).toEqual(['started']);
    expect(over({ ...rollingBack, rollbackId: null })).toEqual(['started', 'noProgress raised']);
  });
});

it.each([
  ['succeeded', 'rolled back'],
  ['finishedWithFailures', 'rolled back, not all'],
] as const)('the end of a rollback does not pose as that of an upgrade: %s', (state, title) => {
  const status = aRolloutStatus({ kind: 'rollback', state, endedAt: startedAt });
  const { notices } = dueOfRollout(undefined, status, { now: startedAt, since: startedAt, gracePeriodMs });
  expect(notices.map((notice) => noticeText(notice).title)).toContain(`rollback of production: ${title}`);
});

it('the end of a rollback says how many stay on the build, and why', () => {
  const left = (count: number, reason: string) => ({ kind: 'held', reason, count, names: [] }) as const;
  const status = aRolloutStatus({
    ...{ kind: 'rollback', state: 'finishedWithFailures', endedAt: startedAt, fromBuilds: ['19.536-4'] },
    ...{
      reason: 'every collector of the plan has ended',
      leftBehind: [left(17, 'not offered'), left(1, 'held')],
    },
  });
  const { notices } = dueOfRollout(undefined, status, { now: startedAt, since: startedAt, gracePeriodMs });
  const end = notices.find(({ details }) => details.event === 'finished');
  expect(end && noticeText(end).cause).toBe(
    'every collector of the plan has ended. 17 stay on 19.536-4: not offered. 1 stays on 19.536-4: held',
  );
});

it('the message of a held stratum asks for nothing where none of its collectors waits', () => {
  const causeWith = (waiting: number) => {
    const strata = strataHolding(aHeldStratum({ by: 'daemon', waiting }));
    const given = { now: startedAt, since: startedAt, gracePeriodMs };
    const { notices } = dueOfRollout(undefined, aRolloutStatus({ strata }), given);
    const notice = notices.find(({ details }) => details.event === 'stratumHeld');
    return notice && noticeText(notice).cause;
  };
  expect(causeWith(2)).toMatch(/\. 2 collectors wait until it is released\.$/);
  expect(causeWith(0)).toMatch(/\. None of its collectors waits, so it needs nothing now\.$/);
});

describe('the notifications of the scans of a policy', () => {
  const read = (...readings: ReadonlyArray<Omit<ScanReading, 'policy'>>) => {
    let announced: Parameters<typeof dueOfPolicy>[0];
    return readings.map((reading, index) => {
      const due = dueOfPolicy(
        announced,
        { policy: 'production', ...reading },
        startedAt + index * 5 * minute,
      );
      announced = due.announced;
      return due.notices.map(({ phase }) => phase);
    });
  };
  const failing = { failure: { reason: 'connection refused' }, overdueAt: null };
  const overdue = { failure: null, overdueAt: startedAt };
  const well = { failure: null, overdueAt: startedAt + 999 * minute };

  it('report once that scans fail for ten minutes, and that they succeed again', () => {
    const phases = read(failing, failing, failing, failing, well, well);
    expect(phases).toEqual([[], [], ['raised'], [], ['over'], []]);
  });

  it('report that a successful scan is overdue', () => {
    expect(read(overdue, overdue, overdue)).toEqual([[], [], ['raised']]);
  });

  it('report without delay that only an operator starts the policy again, beside scans that fail', () => {
    const needs = { kind: 'start', reason: 'Redis lost its data, and production-1 was held' } as const;
    const waiting = { ...failing, needs };
    expect(read(waiting, waiting, waiting, failing, well)).toEqual([
      ['raised'],
      [],
      ['raised'],
      ['over'],
      ['over'],
    ]);
    const reading = { policy: 'production', ...well, needs };
    const { notices, announced } = dueOfPolicy(undefined, reading, startedAt);
    expect(notices.map(noticeText)).toMatchObject([
      {
        tone: 'bad',
        title: 'production: start needed',
        cause: 'Redis lost its data, and production-1 was held. Only an operator starts it again.',
        commands: ['upwave start production'],
      },
    ]);
    expect(notices).toMatchObject([{ actions: [{ verb: 'start', subject: 'production' }] }]);
    const over = dueOfPolicy(announced, { policy: 'production', ...well }, startedAt + minute);
    expect(over.notices.map((notice) => noticeText(notice).title)).toEqual([
      'production: no longer waits for a start',
    ]);
  });

  it('report nothing when one scan fails and the next success is not overdue', () => {
    expect(read({ ...well, ...{ failure: { reason: 'no' } } }, well).flat()).toEqual([]);
  });
});
