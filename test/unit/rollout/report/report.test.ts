import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../../src/contract/admin/holds.ts';
import type { RolloutStatus } from '../../../../src/contract/admin/rollout-status.ts';
import type { EndState, Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import { reportDocument } from '../../../../src/rollout/report/report-document.ts';
import { makeReportTally } from '../../../../src/rollout/report/report-figures.ts';
import type { ReportInput } from '../../../../src/rollout/report/report-input.ts';
import { reportFormats, writeReport } from '../../../../src/rollout/report/write-report.ts';
import { because, oldBuild, startedAt } from '../../../support/builders.ts';
import { aRolloutEvent, aRolloutStatus, aWaveStatus } from '../../../support/fake-operations.ts';
import { aCause, aGateStatus, aNight } from '../../../support/status-parts.ts';
import { afterFacts, anEndedOne } from '../../../support/upgrade-cases.ts';

const minute = 60_000;
const hostile = '<script src="//x.example">a|b`c</script>\n\u202e# [link](http://x.example)';

const succeeded = (tookMs: number, wave = 0): Upgrade =>
  anEndedOne('succeeded', { endedAt: startedAt + tookMs }, { firstStartedAt: startedAt, wave });
const failed = (collectorName: string): Upgrade =>
  anEndedOne(
    'failed',
    { endedAt: startedAt + minute, reason: because('permission denied') },
    { firstStartedAt: startedAt, collectorName, wave: 1 },
  );

function tallied(...upgrades: readonly Upgrade[]) {
  const tally = makeReportTally();
  for (const upgrade of upgrades) tally.add(upgrade);
  return tally.figures();
}

const soakedLane = {
  wave: 'canary',
  state: 'passed',
  spans: [{ kind: 'soak', from: startedAt + 4 * minute, to: startedAt + 9 * minute, dueAt: null }],
} as const;

function anInput(changes: Partial<ReportInput> = {}): ReportInput {
  const waves = [
    aWaveStatus({
      state: 'passed',
      openedAt: startedAt,
      soakEndsAt: startedAt + 5 * minute,
      passedAt: startedAt + 9 * minute,
    }),
    aWaveStatus({ name: 'rest', state: 'waiting', openedAt: null }),
  ];
  return {
    status: aRolloutStatus({ state: 'aborted', reason: 'by alice', endedAt: startedAt + 20 * minute, waves }),
    groups: { strata: [{ label: 'Linux / amd64', sizes: [10] }] },
    figures: tallied(succeeded(2 * minute), succeeded(4 * minute), succeeded(9 * minute), failed('web-1')),
    events: [
      aRolloutEvent({ collectorName: 'web-7' }),
      aRolloutEvent({ event: 'wave.soaking', wave: 'canary', at: startedAt + 4 * minute }),
      aRolloutEvent({ event: 'rollout.aborted', by: 'alice', reason: 'a wrong build' }),
    ],
    holdings: [],
    gates: [],
    left: [],
    night: aNight({ lanes: [soakedLane], to: startedAt + 20 * minute }),
    madeAt: startedAt + 30 * minute,
    installation: 'eu',
    ...changes,
  };
}

describe('the figures of a report', () => {
  it('are the outcomes, the median and the 95th percentile of each wave and stratum', () => {
    const { all, waves, missed, ends } = tallied(
      ...[...Array(20).keys()].map((n) => succeeded((n + 1) * minute)),
      failed('a'),
    );
    expect(all).toMatchObject({ planned: 21, ends: { succeeded: 20, failed: 1 } });
    expect(waves.get(0)?.durations).toEqual({ medianMs: 11 * minute, p95Ms: 20 * minute });
    expect(waves.get(1)).toMatchObject({ planned: 1, durations: null });
    expect(missed).toMatchObject([{ name: 'a', reason: 'permission denied' }]);
    expect(ends).toHaveLength(21);
  });

  it('name a bounded number of collectors, and count the others', () => {
    const figures = tallied(...Array.from({ length: 700 }, (_, index) => failed(`c${index}`)));
    expect([figures.missed.length, figures.missedTotal]).toEqual([500, 700]);
    expect(writeReport(reportDocument(anInput({ figures })), 'md')).toContain(
      '200 more collectors were not upgraded',
    );
  });
});

describe('a report', () => {
  it('names the state of a rollout that runs, whose reason is no outcome', () => {
    const { status } = anInput();
    const running = { ...status, state: 'running', reason: 'approved by bob', endedAt: null } as const;
    expect(writeReport(reportDocument(anInput({ status: running })), 'md')).toContain(
      '| state | running: approved by bob |',
    );
  });

  it("shows the upgrades with their times, the operators' actions, and the remaining collectors", () => {
    const text = writeReport(reportDocument(anInput()), 'md');
    expect(text).toContain('# Rollout production-20260302-1: aborted');
    for (const row of [
      '| builds | 19.441-2 → 19.536-4 |',
      '| took | 20m |',
      '| outcome | aborted: by alice |',
      '| 2026-03-02 21:00 UTC | alice | rollout.aborted |  | a wrong build |',
      '| left out of the plan | 3 |',
      '| Linux / amd64 | 4 | 3 | 1 | 0 | median 4m, p95 9m |',
      '| 1 | web-1 | 19.441-2 | rest | failed | 2026-03-02 21:01 UTC | permission denied |',
    ])
      expect(text).toContain(row);
    expect(text).not.toContain('web-7');
  });

  it('lists withdrawn upgrades apart from the failures', () => {
    const others = { count: 0, causes: 0, unread: 0 };
    const groupOf = (of: 'failed' | 'withdrawn', text: string) =>
      ({ of, total: 5, causes: [aCause({ text })], others }) as const;
    const withdrawn = groupOf('withdrawn', 'it was removed');
    const textOf = (...causes: RolloutStatus['causes']) =>
      writeReport(reportDocument(anInput({ status: { ...anInput().status, causes } })), 'md');
    const both = textOf(groupOf('failed', 'no space'), withdrawn);
    expect(both).toMatch(
      /## Failures by cause\n[^#]*\| failed \| 5 \| no space [^#]*## Deferred and withdrawn\n[^#]*\| withdrawn \| 5 \| it was removed /,
    );
    expect(both).not.toMatch(/## Failures by cause\n[^#]*withdrawn \|/);
    expect(textOf(withdrawn)).toMatch(/## Failures\n+No upgrade failed\.\n+## Deferred and withdrawn\n/);
  });

  it('writes thousands as the web UI does, and never breaks an instant', () => {
    const leftOut = [{ kind: 'excluded', reason: 'excluded', count: 1_696 }] as const;
    const { status } = anInput();
    const text = writeReport(reportDocument(anInput({ status: { ...status, leftOut } })), 'html');
    expect(text).toContain('<td>1,696</td>');
    expect(text).toContain('<td class="instant">2026-03-02 21:00 UTC</td>');
  });

  it('names the operator who started it, as the list of people does', () => {
    const startedIn = (events: Parameters<typeof anInput>[0]) =>
      /\| started \| .*, by (.*) \|/.exec(writeReport(reportDocument(anInput(events)), 'md'))?.[1];
    const status = aRolloutStatus({ startedBy: 'operator' });
    const events = [aRolloutEvent({ event: 'rollout.planned', by: 'root' })];
    expect(startedIn({ status, events })).toBe('root');
    expect(startedIn({ status, events: [] })).toBe('operator');
  });

  it('names the people and what they did to the rollout, without what happened by itself', () => {
    const events = [
      aRolloutEvent({ event: 'rollout.planned', by: 'start' }),
      aRolloutEvent({ event: 'rollout.planned', by: 'schedule' }),
      aRolloutEvent({ event: 'wave.approved', by: 'bob', wave: 'rest', reason: 'CHG-1042' }),
      aRolloutEvent({ event: 'upgrade.pending', by: 'bob', collectorName: 'web-7' }),
      aRolloutEvent({ event: 'wave.soakSkipped', by: 'alice', wave: 'rest', reason: 'seen' }),
      aRolloutEvent({ event: 'rollout.held', by: 'daemon', reason: 'too many failures' }),
    ];
    const peopleIn = (seen: typeof events, status = {}) => {
      const text = writeReport(reportDocument(anInput({ events: seen, ...status })), 'md');
      return text.slice(text.indexOf('## People'), text.indexOf('## Waves')).trim().split('\n').slice(2);
    };
    expect(peopleIn(events)).toEqual([
      '| when | who | what | reason |',
      '| --- | --- | --- | --- |',
      '| 2026-03-02 21:00 UTC | bob | approved: wave rest | CHG-1042 |',
      '| 2026-03-02 21:00 UTC | alice | soak skipped: wave rest | seen |',
    ]);
    expect(peopleIn(events.slice(0, 2))).toEqual(['No operator acted.']);
    const back = { status: aRolloutStatus({ rollbackOf: 'production-1' }) };
    expect(peopleIn(events.slice(0, 2), back)).toEqual([
      'Who asked for it is in the report of production-1.',
    ]);
  });

  describe('of a rollback', () => {
    const rollback = {
      kind: 'rollback',
      state: 'finishedWithFailures',
      endedAt: startedAt + minute,
    } as const;
    const held = { kind: 'held', reason: 'an operator holds them', count: 17, names: [] } as const;
    const status = aRolloutStatus({
      ...{ ...rollback, rollbackOf: 'production-1', leftBehind: [held], startedBy: 'production-1' },
    });
    const input = { status, figures: tallied(succeeded(minute), succeeded(minute)) };

    it('has one name for its outcome, and counts the collectors that stay', () => {
      const text = writeReport(reportDocument(anInput(input)), 'md');
      expect(text).toContain('# Rollback production-20260302-1: rolled back, not all');
      expect(text).toContain('| outcome | rolled back, not all');
      expect(text).toContain('planned, 2 succeeded, 0 failed, 17 not rolled back |');
      expect(text).toContain('No collector failed to go back.');
      expect(text).toContain('Every planned collector went back.');
    });

    it('names who ordered it, and why', () => {
      const order = { event: 'rollout.rollingBack', subject: 'production-1', reason: 'drops data' } as const;
      const holdings = [
        { ...order, at: startedAt + 3 * minute, by: 'bob' },
        { ...order, at: startedAt - minute, by: 'ann' },
        { ...order, at: startedAt - 2 * minute, by: 'cem', subject: 'production-9' },
      ];
      const events = [aRolloutEvent({ event: 'rollout.planned', by: 'daemon' })];
      const text = writeReport(reportDocument(anInput({ ...input, holdings, events })), 'md');
      expect(text).toContain('| 2026-03-02 20:59 UTC | ann | rolling back: production-1 | drops data |');
      expect(text).toMatch(/\| started \| .*, by ann \|/);
      expect(text).not.toMatch(/bob|cem/);
    });
  });

  it('shows upgrades that were rolled back later as they ended before, with how many went back', () => {
    const went = (upgrade: Upgrade): Upgrade =>
      afterFacts(upgrade, {
        ...{ kind: 'rolledBack', at: startedAt + 300 * minute },
        reason: { kind: 'rolledBack', build: oldBuild, rollback: 'production-20260302-2' },
      });
    const started = { firstStartedAt: startedAt, tasks: [{ taskId: '7', startedAt }] };
    const ended = (state: EndState, tookMs: number) =>
      anEndedOne(state, { endedAt: startedAt + tookMs }, started);
    const figures = tallied(
      ended('succeeded', 2 * minute),
      went(ended('succeeded', 6 * minute)),
      went(ended('succeeded', 8 * minute)),
      went(ended('timedOut', 9 * minute)),
    );
    expect(figures.ends.map(({ at }) => at - startedAt)).toEqual([2, 6, 8, 9].map((each) => each * minute));
    const text = writeReport(reportDocument(anInput({ figures })), 'md');
    expect(text).toContain('planned, 3 succeeded, 1 failed, 3 rolled back later |');
    expect(text).toContain('| one upgrade | median 6m, p95 8m |');
    expect(text).toMatch(/\| wave \| .* \| succeeded \| rolled back later \| failures \| one upgrade \|/);
    expect(text).toMatch(
      /\| canary \| .* \| 3\/\d+ \| 3 \| .* allowed.*, 1 more rolled back later \| median 6m, p95 8m \|/,
    );
    expect(text).toContain('| Linux / amd64 | 4 | 3 | 3 | 1 | 0 | median 6m, p95 8m |');
    expect(writeReport(reportDocument(anInput({ figures })), 'html')).toContain(
      'aria-label="3 succeeded, 1 failed at ',
    );
  });

  it('counts withdrawn collectors, so that the figures of an ended rollout add up', () => {
    const figures = tallied(succeeded(minute), anEndedOne('withdrawn', {}), anEndedOne('withdrawn', {}));
    const text = writeReport(reportDocument(anInput({ figures })), 'md');
    expect(text).toContain('planned, 1 succeeded, 0 failed, 2 withdrawn |');
  });

  it('lists the collectors that a rollback left, and counts those that went back by build', () => {
    const back = (fromBuild: string) =>
      anEndedOne('rolledBack', {}, { fromBuild, collectorName: 'returned' });
    const had = '19.288-10';
    const left: ReportInput['left'] = [
      {
        why: { kind: 'buildNotOffered' },
        count: 5,
        some: ['a', 'b', 'c', 'd'].map((name) => ({ name, had })),
      },
    ];
    const figures = tallied(succeeded(minute), back('19.400-1'), back('19.402-2'), back('19.402-2'));
    const text = writeReport(reportDocument(anInput({ left, figures })), 'md');
    expect(text).toContain('planned, 1 succeeded, 0 failed, 3 rolled back later |');
    const [, section = ''] = text.split('## Left behind');
    const names = ['a', 'b', 'c', 'd'].map((name) => `${name} (had ${had})`).join(', ');
    expect(section).toMatch(/not rolled back[\s\S]*left out of the plan/);
    expect(section).toContain(
      `| not rolled back | 5 | the service no longer offers the build they had | ${names}, … 1 more |`,
    );
    expect(section).toContain('| 19.402-2 | 2 |\n| 19.400-1 | 1 |');
    expect(section).not.toMatch(/returned|Every planned/);
  });

  it('names who retried, and who held and released groups of the rollout and its build', () => {
    const entry = (event: AuditEntry['event'], subject: string, changes: Partial<AuditEntry> = {}) => {
      return { at: startedAt + minute, event, subject, by: 'ann', reason: 'driver fixed', ...changes };
    };
    const rack = 'fields.rack=r7';
    const holdings = [
      entry('group.held', 'osName=AIX', { at: startedAt + 900 * minute }),
      entry('stratum.released', `${rack} of production-20260302-1`, { at: startedAt + 40 * minute }),
      entry('group.released', rack, { at: startedAt + 3 * minute }),
      entry('stratum.released', `${rack} of production-20260302-1`, { at: startedAt + 3 * minute }),
      entry('build.released', '19.536-4', { at: startedAt + 2 * minute }),
      entry('build.held', '19.500-1'),
      entry('stratum.held', `${rack} of production-20260302-1`, { by: 'daemon' }),
      entry('stratum.held', `${rack} of other-20260302-1`),
      entry('rollout.retried', 'production-20260302-1 "disabled" of 18 failures'),
      entry('rollout.retried', 'other-20260302-1 3 failures'),
    ];
    const text = writeReport(reportDocument(anInput({ holdings, events: [] })), 'md');
    const rows = text.slice(text.indexOf('## People'), text.indexOf('## Waves')).trim().split('\n');
    expect(rows.slice(4)).toEqual([
      '| 2026-03-02 21:01 UTC | ann | retried: "disabled" of 18 failures | driver fixed |',
      '| 2026-03-02 21:02 UTC | ann | released: build 19.536-4 | driver fixed |',
      '| 2026-03-02 21:03 UTC | ann | released: group fields.rack=r7 | driver fixed |',
      '| 2026-03-02 21:40 UTC | ann | released: group fields.rack=r7 | driver fixed |',
    ]);
  });

  it('shows failures in held strata, which do not count against the limit', () => {
    const counts = { ...aWaveStatus().counts, failed: 4 };
    const waves = [
      aWaveStatus({ name: 'canary', counts, failures: 0, failuresAllowed: 0, acknowledged: 0, lost: 0 }),
    ];
    const { strata } = aRolloutStatus();
    const held = [
      { label: 'osName=AIX', kind: 'outlier', reason: '', by: 'daemon', at: startedAt, waiting: 0 } as const,
    ];
    const rowOf = (status: Partial<RolloutStatus>) =>
      writeReport(reportDocument(anInput({ status: aRolloutStatus({ waves, ...status }) })), 'md')
        .split('\n')
        .find((line) => line.startsWith('| canary |'));
    expect(rowOf({ strata: { ...strata, held } })).toContain(
      '| 0 of 0 allowed, 4 more in held strata, not counted |',
    );
  });

  it('folds the collectors, and every table that is longer than a screen', () => {
    const html = (strata: number) => {
      const ofStratum = (_: unknown, stratum: number): Upgrade => {
        const upgrade = failed('web-1');
        return { ...upgrade, identity: { ...upgrade.identity, stratum } };
      };
      const figures = tallied(...Array.from({ length: strata }, ofStratum));
      return writeReport(reportDocument(anInput({ figures })), 'html');
    };
    // The picture of the night folds its words, too.
    const folded = (text: string) =>
      [...text.matchAll(/<summary>(\d.*?)<\/summary>/g)].map(([, name]) => name);
    expect(folded(html(5))).toEqual([]);
    expect(folded(html(6))).toEqual(['6 collectors']);
    expect(folded(html(20))).toEqual(['20 collectors']);
    expect(folded(html(21))).toEqual(['21 strata', '21 collectors']);
  });

  it('has a name for every column', () => {
    const html = writeReport(
      reportDocument(
        anInput({
          status: aRolloutStatus({
            causes: [
              { of: 'failed', total: 5, causes: [aCause()], others: { count: 0, causes: 0, unread: 0 } },
            ],
          }),
        }),
      ),
      'html',
    );
    expect(html).toContain('<th>outcome</th>');
    expect(html).toContain('<th>why</th>');
    expect(html).not.toContain('<th></th>');
  });

  it('draws the values of a gate over time beside its expectation', () => {
    const status = aRolloutStatus({ waves: [aWaveStatus({ gates: [aGateStatus()] })] });
    const samples = [0.95, 0.98, 0.99].map((value, step) => {
      return { at: startedAt + step * minute, value, verdict: 'met' } as const;
    });
    const course = {
      wave: 'canary',
      name: 'errors',
      expect: { operator: '>=', value: 0.97 },
      samples,
    } as const;
    const html = writeReport(reportDocument(anInput({ status, gates: [course] })), 'html');
    expect(html).toMatch(
      /<p>canary: errors from .*: values 0\.95 to 0\.99, limit &gt;= 0\.97; 3 of 3 answers met it/,
    );
    expect(html).toContain('<polyline points="3,29 80,9.5 157,3">');
  });

  it('shows the shared attribute of the failures', () => {
    const sharedAttribute = {
      attributes: [{ key: 'osName', value: 'Windows*' }],
      ...{ failed: 22, tried: 66, elsewhere: { failed: 1, tried: 46 }, share: 0.1 },
    };
    const causes = [aCause({ count: 23 })];
    const others = { count: 0, causes: 0, unread: 0 };
    const status = aRolloutStatus({ sharedAttribute, causes: [{ of: 'failed', total: 23, causes, others }] });
    const text = writeReport(reportDocument(anInput({ status })), 'md');
    expect(text).toContain('| main cause | 23 failed: permission denied |');
    expect(text).toMatch(/^\| in common \| 22 of 23 failures have osName=Windows/m);
  });

  it('is one HTML file with charts, without a script or a URL', () => {
    const html = writeReport(reportDocument(anInput()), 'html');
    expect(html).toContain('aria-label="3 succeeded, 1 failed at 21:20:00, of ');
    expect(html).toContain('<title>21:04:00 to 21:09:00: wave canary soaks</title>');
    expect(html).not.toMatch(/<script|<link|<img|https?:|src=|url\((?!#night-)/);
    expect(html).toContain("default-src 'none'");
  });

  it.each(reportFormats)('escapes every foreign text: %s', (format) => {
    const status = aRolloutStatus({
      policy: hostile,
      reason: hostile,
      waves: [aWaveStatus({ name: hostile })],
    });
    const events = [aRolloutEvent({ event: 'rollout.paused', by: hostile, reason: hostile })];
    const groups = { strata: [{ label: hostile, sizes: [1] }] };
    const input = anInput({
      status,
      events,
      groups,
      figures: tallied(failed(hostile)),
      installation: hostile,
    });
    const text = writeReport(reportDocument(input), format);
    expect(text).not.toMatch(/<script|<\/script|\u202e/);
    if (format === 'md') {
      const columns = text.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| ---'));
      expect(columns.every((line) => !/(?<!\\)[[\]`#~]/.test(line))).toBe(true);
    }
  });
});
