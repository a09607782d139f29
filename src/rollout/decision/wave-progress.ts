import { assertNever } from '../../base/assert.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { WaveRule } from '../model/policy.ts';
import type { RolloutView, Wave } from '../model/rollout.ts';
import { isEnd, isFailed } from '../model/upgrade.ts';
import { earliest } from './admission.ts';
import type { Hold } from './blocker.ts';
import { isCanary } from './breaker.ts';
import type { Action } from './decision.ts';
import { type AssessedWave, assessed, assessedAt, total } from './failure-limits.ts';
import { assessGate, isWatchedLongerThan } from './gate-probe.ts';
import { soakEndIfBegun, soakEndsAtOf } from './soak.ts';
import { awaitsDeferred, deferredUntil, deferredWords, noEvidenceWords, soakWords } from './wave-blockers.ts';

/** What the first wave that has not passed does next. */
export interface Progress {
  readonly actions: readonly Action[];
  readonly holds: readonly Hold[];
  readonly wakeAt: EpochMs | null;
  /** Nothing may be admitted beside it: the rollout is about to stop. */
  readonly stops: boolean;
}

// A soak is looked at a few times, so that a wave that dies is noticed before its end, and not every moment.
const soakChecksWanted = 4;
const soakCheckEveryMin: DurationMs = 60_000;
const soakCheckEveryMax: DurationMs = 15 * 60_000;

// A collector that is silent at the end of the soak is looked at again, until it is back or counted as dead.
const soakRecheckMin: DurationMs = 1_000;
const soakRecheckMax: DurationMs = 30_000;

// A gate that neither passes nor fails for so long after the soak (its query keeps changing sides) never will (P14).
const undecidedForMin: DurationMs = 30 * 60_000;

/** What the first wave that has not passed does next (P3: no other wave may begin). */
export function decideWave(view: RolloutView, now: EpochMs): Progress {
  const index = view.rollout.waves.findIndex(({ state }) => state !== 'passed');
  const current = assessedAt(view, index);
  if (current === undefined) return finishOrWait(view);
  const { wave, rule } = current;
  switch (wave.state) {
    case 'waiting':
      if (rule.approval && wave.approvedAt === null && wave.size > 0)
        return acts({ do: 'awaitApproval', wave: index });
      return acts({ do: 'openWave', wave: index });
    case 'awaitingApproval':
      if (wave.approvedAt !== null) return acts({ do: 'openWave', wave: index });
      return waits(`wave ${wave.name} waits for approval`);
    case 'open':
      return decideOpen(view, index, current, now);
    case 'soaking':
      return decideSoaking(view, index, current, now);
    case 'passed':
    case 'held':
      return waits(`wave ${wave.name} is ${wave.state}`);
    default:
      return assertNever(wave.state);
  }
}

function decideOpen(view: RolloutView, index: number, current: AssessedWave, now: EpochMs): Progress {
  const { wave, rule, assessment } = current;
  if (!assessment.settled) return waits();
  const missing = missingEvidence(view, index, current);
  if (missing !== undefined) return missing;
  const isTrivial = wave.size + wave.joined === 0 || (rule.soakMs === 0 && rule.gates.length === 0);
  if (isTrivial) return acts({ do: 'passWave', wave: index });
  return acts({ do: 'beginSoak', wave: index, endsAt: soakEndIfBegun(view, index, now) });
}

function decideSoaking(view: RolloutView, index: number, current: AssessedWave, now: EpochMs): Progress {
  const { wave, assessment } = current;
  if (!assessment.settled) {
    const onTheirWay = Math.max(0, assessment.active + assessment.pending - assessment.setAside);
    return waits(`wave ${wave.name}: ${onTheirWay} came late and are on their way`);
  }
  // Its only successes may have died while it soaked.
  const missing = missingEvidence(view, index, current);
  if (missing !== undefined) return missing;
  const endsAt = soakEndsAtOf(view, index) ?? 0;
  const gates = askGates(view, index, current, { endsAt, now });
  if (gates.stops) return gates;
  const soak = watchSoak(index, current, { endsAt, now });
  const actions = [...soak.actions, ...gates.actions];
  const holds = [...soak.holds, ...gates.holds];
  if (holds.length === 0) return acts({ do: 'passWave', wave: index });
  return { actions, holds, wakeAt: earliest([soak.wakeAt, gates.wakeAt]), stops: false };
}

/**
 * Without a collector on the build a gate has no data, and no data is no pass (P14). Deferred collectors may still bring
 * some, so the wave waits for them, without a hold; a wave that has none left is held until evidence comes by itself.
 */
function missingEvidence(view: RolloutView, index: number, current: AssessedWave): Progress | undefined {
  const { wave, assessment } = current;
  if (assessment.evidence === 'shown' || wave.acceptedWithoutEvidence) return undefined;
  if (assessment.evidence === 'awaited') {
    return { actions: [], holds: [awaitsDeferred(view, index)], wakeAt: null, stops: false };
  }
  const reason = noEvidenceWords(view, index);
  return breaks({ do: 'hold', reason, heldFor: { kind: 'evidence', wave: index } });
}

interface SoakTimes {
  readonly endsAt: EpochMs;
  readonly now: EpochMs;
}

/** The soak is over when its time is up and a look begun after that saw every upgraded collector alive on the build. */
function watchSoak(
  index: number,
  { wave, rule, assessment }: AssessedWave,
  { endsAt, now }: SoakTimes,
): Progress {
  const isLooked = rule.soakMs > 0 && assessment.soaking > 0;
  const check = wave.soakCheck;
  const isOver = now >= endsAt;
  const isSeenWell = check !== null && check.at >= endsAt && check.silent === 0 && check.failedPolls === 0;
  if (isOver && (!isLooked || isSeenWell)) return acts();
  const holds = [isOver ? lookWords(wave) : { reason: soakWords(wave), until: endsAt }];
  if (!isLooked) return { actions: [], holds, wakeAt: endsAt, stops: false };
  const dueAt = soakLookDueAt(wave, rule, endsAt);
  if (now >= dueAt) return { actions: [{ do: 'checkSoak', wave: index }], holds, wakeAt: null, stops: false };
  return { actions: [], holds, wakeAt: dueAt, stops: false };
}

function lookWords(wave: Wave): Hold {
  const check = wave.soakCheck;
  if (check !== null && check.failedPolls > 0)
    return { reason: `wave ${wave.name}: the look after the soak brought no answer`, until: null };
  if (check !== null && check.silent > 0)
    return { reason: `wave ${wave.name}: ${check.silent} are silent after the soak`, until: null };
  return { reason: `wave ${wave.name}: its collectors are looked at after the soak`, until: null };
}

function soakLookDueAt(wave: Wave, rule: WaveRule, endsAt: EpochMs): EpochMs {
  const begunAt = Math.min(endsAt, (wave.soakEndsAt ?? endsAt) - rule.soakMs);
  const everyMs = Math.min(
    soakCheckEveryMax,
    Math.max(soakCheckEveryMin, Math.round(rule.soakMs / soakChecksWanted)),
  );
  const lastAt = wave.soakCheck?.at ?? begunAt;
  if (lastAt >= endsAt)
    return lastAt + Math.min(soakRecheckMax, Math.max(soakRecheckMin, Math.round(rule.soakMs / 60)));
  return Math.min(endsAt, lastAt + everyMs);
}

/** Gates are asked from the beginning of the soak; one that is missed stops the rollout at once. */
function askGates(
  view: RolloutView,
  index: number,
  { wave, rule }: AssessedWave,
  { endsAt, now }: SoakTimes,
): Progress {
  const actions: Action[] = [];
  const holds: Hold[] = [];
  const wakes: EpochMs[] = [];
  for (const [gateIndex, gate] of rule.gates.entries()) {
    const standing = wave.gates[gateIndex];
    if (standing === undefined) return stops(`wave ${wave.name}: nothing is kept of gate ${gate.name}`);
    const assessment = assessGate(gate, standing, now);
    const { words, askAt } = assessment;
    // A webhook speaks about the wave as a whole: what it said before that was over was about another one.
    const isEarly = gate.kind === 'webhook' && (standing.askedAt ?? 0) < endsAt;
    const verdict = isEarly && assessment.verdict === 'pass' ? 'waiting' : assessment.verdict;
    const reason = `wave ${wave.name}: ${words}`;
    if (verdict === 'fail')
      return breaks({ do: 'breach', wave: index, reason, holdsBuild: isCanary(view, index) });
    if (verdict === 'hold' || verdict === 'inconclusive') return stops(reason);
    const forMs = Math.max(undecidedForMin, gate.kind === 'prometheus' ? 3 * gate.forMs : 0);
    if (verdict === 'waiting' && isWatchedLongerThan(gate, standing, { since: endsAt, now, forMs }))
      return stops(`${reason}: undecided for too long`);
    // A dry run decides nothing, but it has to have shown something.
    const isUnseen = gate.dryRun && standing.askedAt === null;
    if (verdict === 'waiting' || isUnseen) holds.push({ reason, until: null });
    if (gate.kind === 'webhook' && verdict === 'pass' && !isEarly) continue;
    const dueAt = isEarly ? endsAt : (askAt ?? 0);
    if (now >= dueAt) actions.push({ do: 'askGate', wave: index, gate: gateIndex });
    else wakes.push(dueAt);
  }
  return { actions, holds, wakeAt: earliest(wakes), stops: false };
}

/** All waves have passed: done when every upgrade has ended; deferred ones may still be waited for. */
function finishOrWait(view: RolloutView): Progress {
  const open = total(view, (state) => !isEnd(state));
  const setAside = assessed(view).reduce((sum, { assessment }) => sum + assessment.setAside, 0);
  if (open > 0 && open === setAside) return endWithoutHeld(view, setAside);
  if (open > 0) {
    const deferred = total(view, (state) => state === 'deferred');
    if (deferred !== open) return waits();
    const ends = view.waves.flatMap((_wave, index) => deferredUntil(view, index) ?? []);
    const until = ends.length === 0 ? null : Math.max(...ends);
    const reason = `${deferredWords(deferred)} ${deferred === 1 ? 'is' : 'are'} waited for`;
    return { actions: [], holds: [{ reason, until }], wakeAt: null, stops: false };
  }
  const failures = total(view, isFailed);
  const isWhole = failures === 0 && !view.rollout.endsWithoutHeld && !leavesSome(view);
  return acts({ do: 'finish', state: isWhole ? 'succeeded' : 'finishedWithFailures' });
}

/** A rollback that leaves collectors on the build that it takes back has not done what it was asked for. */
function leavesSome(view: RolloutView): boolean {
  const { kind, leftBehind } = view.rollout;
  return kind === 'rollback' && (leftBehind.length > 0 || total(view, (state) => state === 'withdrawn') > 0);
}

/** Only members of held strata are left: an operator releases them, or says to end without them. */
function endWithoutHeld(view: RolloutView, setAside: number): Progress {
  const labels = view.rollout.heldStrata.map(({ label }) => label).join('; ');
  if (view.rollout.endsWithoutHeld) {
    return acts({ do: 'withdrawWaiting', reason: `its stratum was held to the end: ${labels}` });
  }
  return stops(
    `all else is done: ${setAside} collectors of held strata wait (${labels}); release them, or resume to end without them`,
  );
}

function acts(...actions: readonly Action[]): Progress {
  return { actions, holds: [], wakeAt: null, stops: false };
}

function breaks(action: Action): Progress {
  return { actions: [action], holds: [], wakeAt: null, stops: true };
}

function stops(reason: string): Progress {
  return breaks({ do: 'hold', reason });
}

function waits(reason?: string): Progress {
  const holds = reason === undefined ? [] : [{ reason, until: null }];
  return { actions: [], holds, wakeAt: null, stops: false };
}
