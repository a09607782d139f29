import { describe, expect, it } from 'vitest';
import type { RolloutStatus } from '../../../../src/contract/admin/rollout-status.ts';
import {
  chosenRetriesText,
  consequenceText,
  releaseTexts,
  retriedText,
  staysHeldText,
} from '../../../../src/rollout/messages/consequences.ts';
import { aRolloutStatus, aWaveStatus, countsOf } from '../../../support/fake-operations.ts';
import { aHeldStratum, strataHolding } from '../../../support/status-parts.ts';

const reader = { now: 0, showAt: () => '08:00' };

it('a retry of chosen failures does not claim all of them (P15)', () => {
  const status = aRolloutStatus({});
  const failed = { ...status, counts: { ...status.counts, failed: 3 } };
  const [all] = consequenceText('retry', failed, reader);
  const [chosen] = consequenceText('retry', failed, { ...reader, choosesFailures: true });
  expect(all).toBe('To be upgraded again, with new attempts: 3 failed collectors.');
  expect(chosen).toBe('To be upgraded again, with new attempts: the chosen ones of 3 failed collectors.');
});

it('an approval that no wave waits for any more promises nothing', () => {
  const status = aRolloutStatus({ state: 'running' });
  expect(consequenceText('approve', status, reader)).toEqual([]);
});

it('the abort of a rollback tells who has returned and who stays, and advises no rollback of it', () => {
  const status = aRolloutStatus({
    ...{ kind: 'rollback', targetBuild: '19.525-63', fromBuilds: ['19.536-4'] },
    ...{ counts: countsOf({ succeeded: 17, pending: 148, retrying: 1, failed: 1 }), inFlight: 0 },
  });
  expect(consequenceText('abort', status, reader)).toEqual([
    'Returned to their previous builds: 17 collectors.',
    'No upgrade is running.',
    'Staying on 19.536-4: 150 collectors.',
  ]);
});

it('the approval of a plan to a held build names the release that comes first', () => {
  const buildHold = { build: '19.536-4', reason: 'it crashes', by: 'ann', at: 0 };
  const [first] = consequenceText(
    'approve',
    aRolloutStatus({ state: 'awaitingApproval', buildHold }),
    reader,
  );
  expect(first).toBe('Build 19.536-4 is held (it crashes): `upwave release 19.536-4` comes first.');
});

it.each(['retry', 'resume'] as const)('a %s names what stays held until a release', (verb) => {
  const strata = strataHolding(aHeldStratum({ label: 'osName=Windows*' }), aHeldStratum());
  const waves = [aWaveStatus({ setAside: 5 }), aWaveStatus({ setAside: 7 })];
  const texts = (changes: Parameters<typeof aRolloutStatus>[0]) =>
    consequenceText(verb, aRolloutStatus(changes), reader).join(' ');
  expect(texts({ strata, waves })).toContain(
    '12 collectors stay held until a release: group osName=Windows* and 1 other stratum.',
  );
  expect(texts({ waves })).not.toContain('held until');
  if (verb === 'resume') {
    const onlyHeld = { strata, waves, reasonKind: 'onlyHeldStrata' } as const;
    const ends = texts({ ...onlyHeld, counts: countsOf({ pending: 12 }) });
    expect(ends).toContain('The rollout ends. Not upgraded: 12 collectors of held strata.');
    expect(ends).not.toContain('held until');
    const startable = texts({ ...onlyHeld, counts: countsOf({ pending: 12, retrying: 2 }) });
    expect(startable).toContain('To continue: 2 collectors, 50 at a time. 12 collectors stay held');
  }
});

it('only held strata with collectors that stay are named, the largest first', () => {
  const group = aHeldStratum({ label: 'osName=Windows Server 2016', waiting: 1, failed: 1 });
  const idle = aHeldStratum({ label: 'AIX', waiting: 0, failed: 4 });
  const waves = [aWaveStatus({ setAside: 1 })];
  const status = aRolloutStatus({ strata: strataHolding(idle, group), waves });
  expect(staysHeldText('resume', status, status)).toBe(
    '1 collector stays held until a release: group osName=Windows Server 2016.',
  );
  // A retry adds the failed ones, unless only some of them are chosen.
  expect(consequenceText('retry', status, reader)).toContain(
    '6 collectors stay held until a release: stratum AIX and 1 other stratum.',
  );
  expect(consequenceText('retry', status, { ...reader, choosesFailures: true })).toContain(
    '1 collector stays held until a release: group osName=Windows Server 2016.',
  );
  const larger = aHeldStratum({ label: 'HP-UX', waiting: 3 });
  const more = aRolloutStatus({
    strata: strataHolding(idle, group, larger),
    waves: [aWaveStatus({ setAside: 4 })],
  });
  expect(staysHeldText('resume', more, more)).toBe(
    '4 collectors stay held until a release: stratum HP-UX and 1 other stratum.',
  );
  const none = aRolloutStatus({ strata: strataHolding(idle) });
  expect(staysHeldText('resume', none, none)).toBe('Held until a release: stratum AIX.');
});

it('a resume without a waiting collector names what is left to do (P15)', () => {
  const texts = (changes: Parameters<typeof aRolloutStatus>[0]) =>
    consequenceText('resume', aRolloutStatus({ state: 'held', ...changes }), reader);
  const counts = countsOf({ succeeded: 38 });
  const passed = aWaveStatus({ state: 'passed' });
  expect(texts({ counts, waves: [passed], inFlight: 0 })).toContain('No collector waits: the rollout ends.');
  const waves = [passed, aWaveStatus({ name: 'rest', state: 'soaking' })];
  expect(texts({ counts, waves, inFlight: 0 })).toContain(
    'No collector waits: the rollout ends after the last checks of wave rest.',
  );
  expect(texts({ counts, waves, inFlight: 2 })).toContain(
    'No collector waits. Watched to the end: 2 running upgrades.',
  );
  const setAside = [aWaveStatus({ setAside: 5 })];
  expect(texts({ counts: countsOf({ pending: 5 }), waves: setAside, inFlight: 0 })).toContain(
    'No collector starts.',
  );
});

describe('a retry of collectors of which some are held', () => {
  const strataOf = (failed: number) =>
    strataHolding(aHeldStratum({ label: 'osName=Windows*', ...(failed > 0 && { failed }) }));
  const shownBefore = (failed: number, changes: Partial<RolloutStatus> = {}) =>
    aRolloutStatus({
      ...{ counts: countsOf({ failed: 17, pending: 89 }), strata: strataOf(failed) },
      ...{ waves: [aWaveStatus({ setAside: 89 })], ...changes },
    });
  const shownAfter = (failed: number, changes: Partial<RolloutStatus> = {}) =>
    aRolloutStatus({ counts: countsOf({ pending: 106 }), strata: strataOf(failed), ...changes });

  it.each<[string, RolloutStatus]>([
    ['17 failed collectors: 2 now; 15 when group osName=Windows* is released.', shownBefore(15)],
    ['17 failed collectors: 2 after a resume; 15 when group', shownBefore(15, { state: 'held' })],
    ['17 failed collectors: 17 when group osName=Windows* is released.', shownBefore(17)],
    ['17 failed collectors.', shownBefore(0)],
  ])('does not promise an immediate start: %s', (text, status) => {
    const [question, held] = consequenceText('retry', status, reader);
    expect(question).toContain(text);
    const failed = status.strata.held[0]?.failed ?? 0;
    expect(held).toContain(`${89 + failed} collectors stay held until a release`);
  });

  it('says in its result when they start', () => {
    const released = '15 when group osName=Windows* is released.';
    expect(retriedText(shownBefore(15), shownAfter(0))).toBe(`To be upgraded again: 2 now; ${released}`);
    expect(retriedText(shownBefore(15), shownAfter(0, { state: 'paused' }))).toContain(
      `2 after a resume; ${released}`,
    );
    expect(retriedText(shownBefore(15), shownAfter(15))).toBe('');
    const two = strataHolding(aHeldStratum({ failed: 9 }), aHeldStratum({ label: 'AIX', failed: 6 }));
    expect(retriedText(shownBefore(0, { strata: two }), shownAfter(0))).toContain(
      '15 when 2 held strata are released.',
    );
    // Only those of one stratum were chosen.
    const one = strataHolding(aHeldStratum({ failed: 9 }), aHeldStratum({ label: 'AIX', failed: 0 }));
    const chosen = shownAfter(0, { counts: countsOf({ failed: 11, pending: 95 }), strata: one });
    expect(retriedText(shownBefore(0, { strata: two }), chosen)).toBe(
      'To be upgraded again: 6 when stratum AIX is released.',
    );
  });

  it('says of chosen failures which of them start, and when', () => {
    const group = 'osName=Windows*';
    const status = shownBefore(15);
    expect(chosenRetriesText(status, ['Linux', group, group])).toBe(
      'To be upgraded again: 1 now; 2 when group osName=Windows* is released.',
    );
    expect(chosenRetriesText(status, ['Linux', 'Linux'])).toBe('');
  });
});

it('the result of a retry names what stays held after it', () => {
  const before = aRolloutStatus({});
  const strata = strataHolding(aHeldStratum({ label: 'osName=Windows*' }));
  const after = (aside: number) => aRolloutStatus({ strata, waves: [aWaveStatus({ setAside: aside })] });
  expect(staysHeldText('retry', before, after(1))).toBe(
    '1 collector stays held until a release: group osName=Windows*.',
  );
  expect(staysHeldText('retry', before, after(0))).toBe('Held until a release: group osName=Windows*.');
  expect(staysHeldText('retry', before, before)).toBe('');
});

it.each([
  ['held', 3, 'No longer counted: 3 failures of wave canary. The limit of 2 stays.'],
  ['paused', 2, 'Still counted: 2 failures of wave canary, 2 allowed.'],
  ['paused', 3, 'More than allowed: 3 failures of wave canary, 2 allowed. It may stop again immediately.'],
] as const)(
  'the resume of a rollout that is %s with %i failures says what becomes of them',
  (state, failures, text) => {
    const canary = aWaveStatus({ state: 'open', failures, failuresAllowed: 2 });
    expect(consequenceText('resume', aRolloutStatus({ state, waves: [canary] }), reader)).toContain(text);
  },
);

it('a release says how many collectors start in each rollout, and how many failed before', () => {
  const label = 'osName=Windows*';
  const holding = (waiting: number, failed?: number) =>
    strataHolding(aHeldStratum({ label, waiting, ...(failed !== undefined && { failed }) }), aHeldStratum());
  const rollouts = [
    aRolloutStatus({ id: 'production-20261129-1', strata: holding(32, 7) }),
    aRolloutStatus({ id: 'edge-20261129-1', state: 'held', strata: holding(1) }),
    aRolloutStatus({ id: 'lab-20261129-1', state: 'aborted', endedAt: 1, strata: holding(9) }),
  ];
  expect(releaseTexts(label, rollouts)).toEqual([
    '32 collectors of production-20261129-1 can start. 7 of its members failed before.',
    '1 collector of edge-20261129-1 can start after a resume.',
  ]);
  const byBob = aHeldStratum({ label: 'AIX', waiting: 4, kind: 'asked', by: 'bob', reason: 'INC-2' });
  expect(releaseTexts('AIX', [aRolloutStatus({ id: 'lab-1', strata: strataHolding(byBob) })])).toEqual([
    '4 collectors of lab-1 can start. Held by bob: INC-2.',
  ]);
  expect(releaseTexts('19.536-4', rollouts)).toEqual([
    'It may be upgraded again. A collector that left a rollout returns with the next scan.',
  ]);
});
