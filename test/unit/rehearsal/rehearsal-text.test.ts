import { describe, expect, it } from 'vitest';
import { renderRehearsal } from '../../../src/cli/rehearse/render-rehearsal.ts';
import type { SeedResult } from '../../../src/rehearsal/play/play-seed.ts';
import { assumedText, notPlayedText, tooQuickText } from '../../../src/rehearsal/result/assumed-text.ts';
import { summarizeSeeds } from '../../../src/rehearsal/result/rehearsal.ts';
import { rehearsalDocument } from '../../../src/rehearsal/result/rehearsal-document.ts';
import {
  figureRows,
  type ShownRehearsal,
  seedsText,
  variantRows,
} from '../../../src/rehearsal/result/rehearsal-text.ts';
import { comparedText, type ShownReplay } from '../../../src/rehearsal/result/replay-text.ts';
import type { BreakPlaces, WhatIf } from '../../../src/rehearsal/world/what-if.ts';
import { writeReport } from '../../../src/rollout/report/write-report.ts';
import { aSeedResult, aWhatIf } from '../../support/builders/rehearsal-builders.ts';
import { aPolicy, startedAt } from '../../support/builders.ts';
import { aNight } from '../../support/status-parts.ts';

const policy = aPolicy();
const minute = 60_000;
const hour = 60 * minute;

const calm = aWhatIf({
  durations: { medianMs: 5 * minute, p95Ms: 20 * minute },
  failures: { once: 0.03, always: 0.005 },
});
const rehearsed = (changes: Partial<SeedResult> = {}) => summarizeSeeds([aSeedResult(changes)], startedAt);

function aShown(changes: Partial<ShownRehearsal>): ShownRehearsal {
  const of = { policy: 'production', timeZone: 'UTC', targetBuild: '19.540-2', whatIf: calm, seedsAsked: 1 };
  return { ...of, rehearsal: rehearsed(), variants: [], verdicts: [], others: [], ...changes };
}

describe('a policy for a service at a higher speed', () => {
  const within = (verifyWithinMs: number) =>
    tooQuickText({ ...policy, upgrade: { ...policy.upgrade, verifyWithinMs } });

  it('is named as such, because no collector sends a heartbeat in time', () => {
    expect(within(6_000)).toContain('waits 6s for a collector to return');
    expect(within(30_000)).toBeUndefined();
  });
});

describe('the words of a replay', () => {
  const replay: ShownReplay = {
    ...{ rolloutId: 'production-20260302-1', state: 'held', harmed: 31, upgraded: 221 },
    ...{ known: 252, drawn: 48, missing: 3 },
  };
  const compared = (harmed: number, upgraded: number) =>
    comparedText(replay, rehearsed({ harmed, upgraded, broken: 31 }));

  it('compare it with the rollout, and say when nothing changed', () => {
    expect(compared(4, 180)).toBe(
      'With this policy, 4 would have been harmed instead of 31, and 180 upgraded instead of 221.',
    );
    expect(compared(31, 180)).toBe(
      'With this policy, 31 would have been harmed as before, and 180 upgraded instead of 221.',
    );
    expect(compared(31, 221)).toBe('The replay gives what the rollout gave: 31 harmed, 221 upgraded.');
  });

  it('name whose results are known, and what is not played', () => {
    const shown = aShown({ replay, rehearsal: rehearsed({ harmed: 4, upgraded: 180, broken: 36 }) });
    expect(assumedText(shown)).toBe(
      'production-20260302-1: 252 collectors as they went then; 48 whose result is unknown, because it did not start them, like others of their stratum; 3 left out, because the fleet no longer has them',
    );
    expect(figureRows(shown)[0]).toEqual(['harmed', 'median 4, p95 4, worst 4 of 36 that fail for good']);
    expect(renderRehearsal(shown)).toContain('compared:      With this policy, 4 would');
    expect(renderRehearsal(shown)).toContain('upgraded instead of 221.');
  });
});

describe('the words of a rehearsal', () => {
  it('tell where the durations are from', () => {
    const rollout = { kind: 'rollout', id: 'production-20260301-1', strataTotal: 3 } as const;
    const told = (durationsFrom: WhatIf['durationsFrom']) =>
      assumedText(aShown({ whatIf: { ...calm, ...(durationsFrom && { durationsFrom }) } })).split(';')[0];
    expect(told({ kind: 'expect' })).toBe('an upgrade takes 5m (p95 20m), by upgrade.expect of the policy');
    expect(told({ kind: 'file' })).toBe('an upgrade takes 5m (p95 20m), by the what-if file');
    expect(told({ ...rollout, strata: 0 })).toBe(
      'an upgrade takes 5m (p95 20m), as in production-20260301-1',
    );
    expect(told({ ...rollout, strata: 2 })).toBe(
      'an upgrade takes 5m (p95 20m), as in production-20260301-1, where 2 of 3 strata have durations of their own',
    );
  });

  it('name the other policies that were played, and what was not', () => {
    const other = (policy: string) =>
      ({ policy, targetBuild: '19.540-2', planned: 1, startsAt: startedAt + hour }) as const;
    const text = assumedText(aShown({ others: [other('staging')] }));
    expect(text.split('; ').at(-1)).toBe('staging starts at 22:00: 1 collector → 19.540-2');
    const many = aShown({ others: ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(other) });
    expect(assumedText(many)).toMatch(/; e starts at [^;]+; 2 other policies as well$/);
    const notPlayed = (others: ShownRehearsal['others']) => notPlayedText(aShown({ others }));
    expect(notPlayed([])).toBe('collectors that come up again, new collectors, collectors that leave');
    expect(notPlayed(null)).toBe(`${notPlayed([])}, other policies`);
  });

  it('name collectors that come up again, and how many joined', () => {
    const whatIf = { ...calm, upAgain: { share: 0.3, withinMs: 6 * hour } };
    const shown = aShown({ whatIf, rehearsal: rehearsed({ joined: 12 }) });
    expect(assumedText(shown)).toMatch(/; 30% of the collectors that are down come up again within 6h$/);
    expect(figureRows(shown)).toContainEqual(['joined', 'median 12, p95 12, worst 12']);
    expect(renderRehearsal(shown)).toContain('not played:    new collectors, collectors that leave\n');
  });

  it('name collectors that are installed', () => {
    const shown = (count: number) => aShown({ whatIf: { ...calm, installed: { count, withinMs: hour } } });
    expect(assumedText(shown(20))).toMatch(/; 20 collectors are installed within 1h$/);
    expect(assumedText(shown(1))).toMatch(/; 1 collector is installed within 1h$/);
    expect(notPlayedText(shown(1))).toBe('collectors that come up again, collectors that leave');
  });

  it('name all that was assumed of the build, the service, gates and people', () => {
    const whatIf: WhatIf = {
      ...calm,
      breaks: [
        { match: { osName: ['Windows*'] }, share: 0.4, how: 'neverReturns', afterMs: 0 },
        { match: { fields: { rack: ['r7', 'r8'] } }, share: 1, how: 'dies', afterMs: 4 * hour },
        { share: 0.005, how: 'fails', afterMs: 0 },
      ],
      disturbances: [
        { from: startedAt + 2 * hour, to: startedAt + 4 * hour, requestsPerSecond: 0 },
        { from: startedAt + 5 * hour, to: startedAt + 6 * hour, requestsPerSecond: 0.5 },
      ],
      gates: { 'go-live': 'hold', metrics: 'pass' },
      approval: { kind: 'at', minute: 8 * 60 + 5, timeZone: 'UTC' },
    };
    expect(assumedText(aShown({ whatIf })).split('; ')).toEqual([
      'an upgrade takes 5m (p95 20m)',
      '3% fail once, 0.5% always',
      '40% of osName=Windows* never return',
      'all of fields.rack=r7|r8 die 4h after the upgrade',
      '0.5% of the collectors fail',
      'no answer from 23:00 to +1d 01:00',
      '0.5 requests/s from +1d 02:00 to +1d 03:00',
      'gate go-live: hold',
      'approval at 08:05',
    ]);
    expect(assumedText(aShown({ whatIf: { ...calm, approval: { kind: 'never' } } }))).toMatch(
      /; nobody approves$/,
    );
  });

  it('show that fewer seeds than requested were played, and why', () => {
    expect(seedsText(aShown({}))).toBe('1 seed');
    expect(seedsText(aShown({ seedsAsked: 200 }))).toBe(
      '1 of 200 seeds: all end for one reason, and medians and percentiles are known to 2%',
    );
  });

  it('show what a rollback rolled back', () => {
    const rows = (shown: ShownRehearsal) => Object.fromEntries(figureRows(shown));
    expect(rows(aShown({}))).toMatchObject({
      harmed: 'none, because the build is assumed to break no collector',
    });
    expect(rows(aShown({}))).not.toHaveProperty('rolled back');
    const rehearsal = rehearsed({ state: 'rolledBack', broken: 10, harmed: 2, rolledBack: 7, upgraded: 3 });
    expect(rows(aShown({ rehearsal }))).toMatchObject({
      harmed: 'median 2, p95 2, worst 2 of 10 that the build breaks',
      'rolled back': 'median 7, p95 7, worst 7',
      'left behind': 'median 3, p95 3, worst 3',
    });
    // A share breaks more in some seeds.
    const broken = { best: 8, p5: 8, median: 10, p95: 12, worst: 14 };
    expect(rows(aShown({ rehearsal: { ...rehearsal, broken } }))['harmed']).toMatch(
      / of up to 14 that the build breaks$/,
    );
  });

  it('show why a build that breaks collectors harms none', () => {
    const harmed = (whatIf: WhatIf, breakPlaces: BreakPlaces) =>
      figureRows(aShown({ whatIf, breakPlaces })).find(([label]) => label === 'harmed')?.[1];
    const breaks = [{ match: { osName: ['Windows*'] }, share: 0.1, how: 'fails', afterMs: 0 }] as const;
    const bad = { ...calm, breaks };
    const leftOut = [{ kind: 'held', count: 54 } as const, { kind: 'notAlive', count: 2 } as const];
    expect(harmed(calm, { planned: 0, leftOut: [] })).toBe(
      'none, because the build is assumed to break no collector',
    );
    expect(harmed(bad, { planned: 0, leftOut })).toBe(
      'none, because the build is assumed to break only collectors that are not in the plan (held by an operator: 54 · not alive: 2)',
    );
    expect(harmed(bad, { planned: 0, leftOut: [] })).toBe(
      'none, because no collector of the fleet matches what the build is assumed to break',
    );
    expect(harmed(bad, { planned: 3, leftOut })).toBe(
      'none, because the assumed share broke none of the 3 planned collectors that it may break',
    );
  });

  it('show the policy as it is, then the variants that harm fewer, and say if there are none', () => {
    const variants = [
      { name: 'as it is', rehearsal: rehearsed({ harmed: 5 }) },
      { name: 'slow', rehearsal: rehearsed({ harmed: 2, tookMs: 3 * hour }) },
      { name: 'worse', rehearsal: rehearsed({ harmed: 9 }) },
      { name: 'quick', rehearsal: rehearsed({ harmed: 2 }) },
    ];
    expect(variantRows(aShown({ variants })).map(([name]) => name)).toEqual(['as it is', 'quick', 'slow']);
    const few = renderRehearsal(
      aShown({
        variants,
        rehearsal: summarizeSeeds(
          [1, 2].map((seed) => aSeedResult({ seed })),
          startedAt,
        ),
      }),
    );
    expect(few).toContain('\nwhat would have caught it earlier (the first 1 seed each):\n');
    expect(renderRehearsal(aShown({ variants }))).toContain('\nwhat would have caught it earlier:\n');
    const worse = aShown({
      variants: variants.filter(({ name }) => name === 'as it is' || name === 'worse'),
    });
    expect(variantRows(worse)).toEqual([]);
    expect(writeReport(rehearsalDocument(worse), 'md')).toContain('No variant that was played would have');
    expect(renderRehearsal(worse)).toContain('No variant that was played would have');
  });
});

it('the page of a rehearsal carries the verdict of each condition', () => {
  const verdicts = [
    { condition: 'harmed.p95 > 5', isMet: true },
    { condition: 'held > 10', isMet: false },
  ];
  const page = writeReport(rehearsalDocument(aShown({ verdicts })), 'md');
  expect(page).toMatch(/harmed\.p95 .*5 *\| *met: failed/);
  expect(page).toMatch(/held .*10 *\| *not met: passed/);
});

describe('the picture of a rehearsal', () => {
  const held = (seed: number, tookMs: number) =>
    aSeedResult({
      ...{ seed, tookMs, state: 'held', reasonKind: 'failures' },
      night: aNight({
        bands: [
          { kind: 'hold', from: startedAt + tookMs, to: null, reason: `${seed} failures`, by: 'daemon' },
        ],
      }),
    });
  const rehearsal = summarizeSeeds(
    [aSeedResult({ seed: 1 }), held(2, 3 * hour), held(3, hour), held(4, 2 * hour)],
    startedAt,
  );

  it('shows the seed with the median time of the most frequent end', () => {
    expect([rehearsal.typical.seed, rehearsal.typical.tookMs]).toEqual([4, 2 * hour]);
  });

  it('shows a held seed up to its hold, and why', () => {
    const page = writeReport(rehearsalDocument(aShown({ rehearsal })), 'html');
    expect(page).toContain('The picture shows seed 4.');
    expect(page).toContain('<li>Since 23:00: held: 4 failures</li>');
  });
});
