import { describe, expect, it } from 'vitest';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import type { SoakCheck } from '../../../../src/rollout/model/gate-answers.ts';
import type { GateRule, WaveRule } from '../../../../src/rollout/model/policy.ts';
import type { RolloutView, Wave, WaveSummary } from '../../../../src/rollout/model/rollout.ts';
import { aPrometheusGate, aStatus, aWebhookGate } from '../../../support/builders/gate-builders.ts';
import { type RolloutChanges, startedAt } from '../../../support/builders.ts';
import { aViewOf, type Counts, resumed, waiting } from '../../../support/view-cases.ts';

const minute = 60_000;
const soakMs = 40 * minute;
const endsAt = startedAt + soakMs;

const prometheus = aPrometheusGate();
const webhook = aWebhookGate({ everyMs: 10 * minute });

const check = (changes: Partial<SoakCheck> = {}): SoakCheck => ({
  at: endsAt,
  silent: 0,
  failedPolls: 0,
  ...changes,
});

interface Soaking {
  readonly rule?: Partial<WaveRule>;
  readonly wave?: Partial<Wave>;
  readonly counts?: Counts;
  readonly summary?: Partial<WaveSummary>;
  readonly rollout?: RolloutChanges;
}

/** A canary of five that soaks from `startedAt` to `endsAt`, and a second wave behind it. */
function soaking({
  rule,
  wave,
  counts = { succeeded: 5 },
  summary = {},
  rollout,
}: Soaking = {}): RolloutView {
  const gates = (rule?.gates ?? []).map(() => aStatus());
  return aViewOf({
    waves: [
      {
        name: 'canary',
        counts,
        summary,
        rule: { soakMs, maxFailures: { kind: 'count', count: 1 }, ...rule },
        wave: { state: 'soaking', soakEndsAt: endsAt, gates, ...wave },
      },
      { counts: { pending: 20 }, wave: waiting },
    ],
    rollout,
  });
}

const does = (view: RolloutView, now: number): readonly string[] =>
  decide(view, now).actions.map((action) => (action.do === 'save' ? action.change.kind : action.do));

const met = (askedAt: number, watchedSince = startedAt) =>
  aStatus({ verdict: 'met', askedAt, watchedSince, since: askedAt, value: 0.998 });
const passes = { do: 'save', change: { kind: 'wavePassed', wave: 0 } };

describe('a soak', () => {
  it.each([{ silent: 1 }, { failedPolls: 1 }])(
    'does not pass after a poll with %o, and shows a blocker',
    (changes) => {
      const view = soaking({ wave: { soakCheck: check(changes) } });
      const decision = decide(view, endsAt);
      expect(decision.actions).toEqual([]);
      expect(decision.blockers).toMatchObject([{ kind: 'soakCheck', wave: 'canary' }]);
      expect(decision.wakeAt).toBe(endsAt + 30_000);
      expect(does(view, endsAt + 30_000)).toEqual(['checkSoak']);
    },
  );

  it('polls less and less often while polls fail after it, and each half minute at least', () => {
    const short = { soakMs: minute };
    const waits = [0, 8_000, 60_000, 3 * 60 * minute].map((sinceEndMs) => {
      const at = endsAt + sinceEndMs;
      const view = soaking({ rule: short, wave: { soakCheck: check({ at, failedPolls: 9 }) } });
      return (decide(view, at).wakeAt ?? 0) - at;
    });
    expect(waits).toEqual([1_000, 2_000, 15_000, 30_000]);
  });

  it('polls its collectors four times', () => {
    expect(does(soaking(), startedAt + 10 * minute - 1)).toEqual([]);
    expect(decide(soaking(), startedAt).wakeAt).toBe(startedAt + 10 * minute);
    expect(does(soaking(), startedAt + 10 * minute)).toEqual(['checkSoak']);
    const once = soaking({ wave: { soakCheck: check({ at: startedAt + 11 * minute }) } });
    expect(decide(once, startedAt + 12 * minute).wakeAt).toBe(startedAt + 21 * minute);
  });

  it('restarts for late joiners', () => {
    const wave = { soakCheck: check() };
    expect(decide(soaking({ counts: { succeeded: 4, upgrading: 1 }, wave }), endsAt)).toMatchObject({
      actions: [],
      blockers: [{ kind: 'lateJoiners', wave: 'canary', upgrades: 1 }],
    });
    const late = startedAt + 30 * minute;
    const came = soaking({ summary: { lastChangeAt: late }, wave });
    expect(does(came, endsAt)).not.toContain('wavePassed');
    expect(decide(came, late + soakMs).actions).toEqual([{ do: 'checkSoak', wave: 0 }]);
  });

  it('polls its collectors again after a resume, because the last poll is old', () => {
    const paused = soaking({ wave: { soakCheck: check() }, rollout: { state: 'paused' } });
    const at = endsAt + 24 * 60 * minute;
    expect(does(resumed(paused, at), at)).toEqual(['checkSoak']);
  });

  it('needs no poll when no collector was upgraded and an operator accepted that', () => {
    const nobody = soaking({ counts: { withdrawn: 5 }, wave: { acceptedWithoutEvidence: true } });
    expect(decide(nobody, endsAt - 1)).toMatchObject({ actions: [], wakeAt: endsAt });
    expect(decide(nobody, endsAt).actions).toEqual([passes]);
  });
});

describe('a gate', () => {
  const gated = (gate: GateRule, standing = aStatus(), wave: Partial<Wave> = {}) =>
    soaking({
      rule: { gates: [gate] },
      wave: { gates: [standing], soakCheck: check(), ...wave },
    });

  it('is asked from the start of the soak', () => {
    expect(decide(gated(prometheus, aStatus(), { soakCheck: null }), startedAt).actions).toEqual([
      { do: 'askGate', wave: 0, gate: 0 },
    ]);
  });

  it('that is missed holds the rollout at once, also during the soak', () => {
    const missed = aStatus({ verdict: 'missed', askedAt: startedAt, since: startedAt, value: 0.93 });
    const { actions } = decide(gated(prometheus, missed, { soakCheck: null }), startedAt);
    expect(actions).toMatchObject([
      {
        do: 'breach',
        cause: { kind: 'gateMissed', wave: 'canary', gate: { finding: { value: 0.93, isMet: false } } },
        holdsBuild: true,
      },
    ]);
  });

  it.each([
    ['answers hold', aStatus({ verdict: 'hold', askedAt: endsAt, since: endsAt })],
    [
      'gives no answer four times',
      aStatus({ verdict: 'error', askedAt: endsAt, since: endsAt, errorsInRow: 4 }),
    ],
  ])('that %s holds, and is no failure (P14)', (_words, standing) => {
    expect(does(gated(webhook, standing), endsAt)).toEqual(['hold']);
  });

  it('is asked again after a resume, and its earlier answers are still shown', () => {
    const samples = [{ at: startedAt, verdict: 'met', value: 0.99 }] as const;
    const answered = aStatus({ verdict: 'met', askedAt: startedAt, since: startedAt, samples });
    const paused = { ...gated(prometheus, answered) };
    const { rollout } = resumed({ ...paused, rollout: { ...paused.rollout, state: 'paused' } }, endsAt);
    expect(rollout.waves[0]?.gates).toEqual([expect.objectContaining({ verdict: 'unasked', samples })]);
  });

  it('of a webhook is asked only once the soak is over, and then once', () => {
    expect(decide(gated(webhook), endsAt - 1)).toMatchObject({ actions: [], wakeAt: endsAt });
    expect(does(gated(webhook), endsAt)).toEqual(['askGate']);
    const waitsForLook = gated(webhook, met(endsAt), { soakCheck: check({ silent: 1 }) });
    expect(does(waitsForLook, endsAt + 11 * minute)).toEqual(['checkSoak']);
  });

  it('of a webhook that answered before the wave was over is asked again', () => {
    // The answer is fresh still, but speaks of a wave without the one that came late.
    const late = soaking({
      rule: { gates: [webhook] },
      counts: { succeeded: 4, failed: 1 },
      summary: { lastChangeAt: startedAt + minute },
      wave: { gates: [met(endsAt)], soakCheck: check({ at: endsAt + minute }) },
    });
    expect(does(late, endsAt + minute)).toEqual(['askGate']);
  });

  it('in a dry run decides nothing, but must be asked once', () => {
    const dry = { ...prometheus, dryRun: true };
    expect(does(gated(dry), endsAt)).toEqual(['askGate']);
    const missed = aStatus({ verdict: 'missed', askedAt: endsAt, since: endsAt, value: 0.1 });
    expect(decide(gated(dry, missed), endsAt).actions).toEqual([passes]);
  });

  it('that keeps changing sides for half an hour after the soak holds (P14)', () => {
    const flapping = (askedAt: number, watchedSince?: number) =>
      gated({ ...prometheus, forMs: 5 * minute }, met(askedAt, watchedSince));
    const patient = endsAt + 30 * minute;
    expect(does(flapping(patient), patient)).not.toContain('hold');
    expect(decide(flapping(patient + 1), patient + 1).actions).toMatchObject([
      { do: 'hold', cause: { kind: 'gateInconclusive', undecided: true } },
    ]);
    // Half an hour of requests, counted from the first one.
    const late = flapping(patient + minute, endsAt + minute);
    expect(does(late, patient + minute)).not.toContain('hold');
    expect(does(flapping(patient + minute + 1, endsAt + minute), patient + minute + 1)).toEqual(['hold']);
  });

  it('is waited for three times as long as its expectation must be met', () => {
    const slow = { ...prometheus, forMs: 60 * minute };
    const at = endsAt + 180 * minute;
    expect(does(gated(slow, met(at)), at)).not.toContain('hold');
    expect(does(gated(slow, met(at + 1)), at + 1)).toEqual(['hold']);
  });

  it('without a leader for hours is asked again before it decides (P11)', () => {
    const wasMet = gated({ ...prometheus, forMs: 5 * minute }, met(startedAt));
    const at = endsAt + 2 * 60 * minute;
    expect(does(wasMet, at)).toContain('askGate');
    expect(does(wasMet, at)).not.toContain('hold');
  });

  it('without a stored status keeps the wave from passing (P14)', () => {
    const lacking = soaking({ rule: { gates: [prometheus] }, wave: { gates: [], soakCheck: check() } });
    expect(does(lacking, endsAt)).not.toContain('wavePassed');
  });
});
