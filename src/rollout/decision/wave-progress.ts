import { assertNever } from '../../base/assert.ts';
import { sumOf } from '../../base/grouping.ts';
import { type DurationMs, type EpochMs, earliest } from '../../base/time.ts';
import type { WaveRule } from '../model/policy.ts';
import type { Wave } from '../model/rollout.ts';
import type { HoldCause } from '../model/stop-cause.ts';
import { isEnd, isFailed } from '../model/upgrade.ts';
import { type AssessedView, type AssessedWave, countUpgradesIn, isLastWithMembers } from './assess.ts';
import { assessGate, forMsOf, isAskedAtTheEnd, isWatchedLongerThan } from './assess-gate.ts';
import type { Blocker } from './blocker.ts';
import type { Action, Decision } from './decision.ts';
import { isCanary } from './raise-alarm.ts';
import type { RolloutChange } from './rollout-facts.ts';
import { soakEndIfBegun, soakEndsAtOf } from './soak.ts';
import { deferredBlocker, lastDeferredUntil, noEvidence } from './wave-blockers.ts';

/** The next state of the first wave that has not passed. */
export interface Progress extends Decision {
  /** True when the rollout is about to stop, so nothing may be admitted. */
  readonly stops: boolean;
}

// A soak is checked a few times, to notice a dying wave before its end without constant requests.
const soakChecksWanted = 4;
const soakCheckEveryMin: DurationMs = 60_000;
const soakCheckEveryMax: DurationMs = 15 * 60_000;

// A collector that is silent at the end of the soak is polled again until it is back or counts as dead. Polls that fail may
// fail for hours, so each wait is a share of the time since the end.
const soakRecheck = { minMs: 1_000, maxMs: 30_000, growth: 0.25 };

// A gate that neither passes nor fails for this long after the soak (its value keeps changing) never will (P14).
const undecidedForMin: DurationMs = 30 * 60_000;

/** Decides the next step of the first wave that has not passed (P3: no other wave may start). */
export function decideWave(view: AssessedView, now: EpochMs): Progress {
  const { current } = view;
  if (current === undefined) return finishOrWait(view);
  const { index, wave, rule } = current;
  switch (wave.state) {
    case 'waiting':
      if (rule.approval && wave.approvedAt === null && wave.size > 0)
        return saveChange({ kind: 'waveAwaitsApproval', wave: index });
      return saveChange({ kind: 'waveOpened', wave: index });
    case 'awaitingApproval':
      if (wave.approvedAt !== null) return saveChange({ kind: 'waveOpened', wave: index });
      return waitFor({ kind: 'waveApproval', wave: wave.name, until: null });
    case 'open':
      return decideOpen(view, current, now);
    case 'soaking':
      return decideSoaking(view, current, now);
    case 'passed':
      return waitFor();
    default:
      return assertNever(wave.state);
  }
}

function decideOpen(view: AssessedView, current: AssessedWave, now: EpochMs): Progress {
  const { index, wave, rule, assessment } = current;
  if (!assessment.settled) return waitFor();
  const missing = missingEvidence(view, current);
  if (missing !== undefined) return missing;
  const isTrivial = wave.size + wave.joined === 0 || (rule.soakMs === 0 && rule.gates.length === 0);
  if (isTrivial) return saveChange({ kind: 'wavePassed', wave: index });
  return saveChange({ kind: 'soakBegun', wave: index, endsAt: soakEndIfBegun(current, now) });
}

function decideSoaking(view: AssessedView, current: AssessedWave, now: EpochMs): Progress {
  const { index, wave, assessment } = current;
  if (!assessment.settled) {
    const { remaining: upgrades } = assessment;
    return waitFor({ kind: 'lateJoiners', wave: wave.name, upgrades, until: null });
  }
  // All its successes may have died during the soak.
  const missing = missingEvidence(view, current);
  if (missing !== undefined) return missing;
  const endsAt = soakEndsAtOf(current) ?? 0;
  const gates = askGates(view, current, { endsAt, now });
  if (gates.stops) return gates;
  const soak = watchSoak(current, { endsAt, now });
  const actions = [...soak.actions, ...gates.actions];
  const blockers = [...soak.blockers, ...gates.blockers];
  if (blockers.length === 0) return saveChange({ kind: 'wavePassed', wave: index });
  return { actions, blockers, wakeAt: earliest([soak.wakeAt, gates.wakeAt]), stops: false };
}

/**
 * Without a collector on the build a gate has no data, and no data is no pass (P14). The wave waits for its deferred
 * collectors without a hold. A wave without any is held until a collector runs the build. Where nobody comes after it, a
 * hold would spare nobody: the rollout ends with its failures.
 */
function missingEvidence(view: AssessedView, current: AssessedWave): Progress | undefined {
  const { index, wave, assessment } = current;
  if (assessment.evidence === 'shown' || wave.acceptedWithoutEvidence) return undefined;
  if (assessment.evidence === 'awaited') return waitFor(deferredBlocker(view, current));
  const isLast = isLastWithMembers(view, index);
  // Where all were withdrawn, nothing would say that the build reached nobody.
  if (isLast && countUpgradesIn({ waves: [current.summary] }, isFailed) > 0) return finishOrWait(view);
  return stopWith({ do: 'hold', cause: noEvidence(current), heldFor: { kind: 'evidence', wave: index } });
}

interface SoakTimes {
  readonly endsAt: EpochMs;
  readonly now: EpochMs;
}

/** The soak ends when its time is up and a later poll has shown every upgraded collector alive on the build. */
function watchSoak({ index, wave, rule, assessment }: AssessedWave, { endsAt, now }: SoakTimes): Progress {
  const isPolled = rule.soakMs > 0 && assessment.soaking > 0;
  const check = wave.soakCheck;
  const isOver = now >= endsAt;
  const isSeenWell = check !== null && check.at >= endsAt && check.silent === 0 && check.failedPolls === 0;
  if (isOver && (!isPolled || isSeenWell)) return doNow();
  const { silent = 0, failedPolls = 0 } = check ?? {};
  const waiting = isOver
    ? waitFor({ kind: 'soakCheck', wave: wave.name, silent, failedPolls, until: null })
    : waitFor({ kind: 'soak', wave: wave.name, until: endsAt });
  if (!isPolled) return { ...waiting, wakeAt: endsAt };
  const dueAt = soakPollDueAt(wave, rule, endsAt);
  return now >= dueAt
    ? { ...waiting, actions: [{ do: 'checkSoak', wave: index }] }
    : { ...waiting, wakeAt: dueAt };
}

function soakPollDueAt(wave: Wave, rule: WaveRule, endsAt: EpochMs): EpochMs {
  const begunAt = Math.min(endsAt, (wave.soakEndsAt ?? endsAt) - rule.soakMs);
  const everyMs = Math.min(
    soakCheckEveryMax,
    Math.max(soakCheckEveryMin, Math.round(rule.soakMs / soakChecksWanted)),
  );
  const lastAt = wave.soakCheck?.at ?? begunAt;
  if (lastAt >= endsAt) {
    const { minMs, maxMs, growth } = soakRecheck;
    const waitMs = Math.max(minMs, rule.soakMs / 60, (lastAt - endsAt) * growth);
    return lastAt + Math.min(maxMs, Math.round(waitMs));
  }
  return Math.min(endsAt, lastAt + everyMs);
}

/** Gates are asked from the beginning of the soak. A missed gate stops the rollout at once. */
function askGates(
  view: AssessedView,
  { index, wave, rule }: AssessedWave,
  { endsAt, now }: SoakTimes,
): Progress {
  const actions: Action[] = [];
  const blockers: Blocker[] = [];
  const wakes: EpochMs[] = [];
  for (const [gateIndex, gate] of rule.gates.entries()) {
    const answers = wave.gates[gateIndex];
    if (answers === undefined) return holdBecause({ kind: 'gateUnknown', wave: wave.name, gate: gate.name });
    const assessment = assessGate(gate, answers, now);
    // A gate about the whole wave counts only after the soak, because earlier answers are about an unfinished wave.
    const isEarly = isAskedAtTheEnd(gate) && (answers.askedAt ?? 0) < endsAt;
    const verdict = isEarly && assessment.verdict === 'pass' ? 'waiting' : assessment.verdict;
    const subject = { wave: wave.name, gate: assessment };
    if (verdict === 'fail')
      return stopWith({
        do: 'breach',
        cause: { kind: 'gateMissed', ...subject },
        holdsBuild: isCanary(view, index),
      });
    if (verdict === 'hold' || verdict === 'inconclusive')
      return holdBecause({ kind: 'gateInconclusive', ...subject, undecided: false });
    const forMs = Math.max(undecidedForMin, 3 * forMsOf(gate));
    if (verdict === 'waiting' && isWatchedLongerThan(gate, answers, { since: endsAt, now, forMs }))
      return holdBecause({ kind: 'gateInconclusive', ...subject, undecided: true });
    // A dry run decides nothing, but needs at least one answer.
    const isUnseen = gate.dryRun && answers.askedAt === null;
    if (verdict === 'waiting' || isUnseen) blockers.push({ kind: 'gate', ...subject, until: null });
    if (isAskedAtTheEnd(gate) && verdict === 'pass' && !isEarly) continue;
    const dueAt = isEarly ? endsAt : assessment.askAt;
    if (now >= dueAt) actions.push({ do: 'askGate', wave: index, gate: gateIndex });
    else wakes.push(dueAt);
  }
  return { actions, blockers, wakeAt: earliest(wakes), stops: false };
}

/** All waves have passed: the rollout is done when every upgrade has ended. It may still wait for deferred ones. */
function finishOrWait(view: AssessedView): Progress {
  const open = countUpgradesIn(view, (state) => !isEnd(state));
  const setAside = sumOf(view.assessed, ({ assessment }) => assessment.setAside);
  if (open > 0 && open === setAside) return endWithoutHeld(view, setAside);
  if (open > 0) {
    const upgrades = countUpgradesIn(view, (state) => state === 'deferred');
    if (upgrades !== open) return waitFor();
    return waitFor({ kind: 'deferred', wave: null, upgrades, known: [], until: lastDeferredUntil(view) });
  }
  const failures = countUpgradesIn(view, isFailed);
  const isWhole = failures === 0 && !view.rollout.strata.endsWithoutHeld && !leavesSome(view);
  return saveChange({ kind: 'finished', state: isWhole ? 'succeeded' : 'finishedWithFailures' });
}

/** A rollback that leaves collectors on the build has not succeeded. */
function leavesSome(view: AssessedView): boolean {
  const { kind, rollback } = view.rollout;
  const left = rollback.leftBehind.length + countUpgradesIn(view, (state) => state === 'withdrawn');
  return kind === 'rollback' && left > 0;
}

/** Only members of held strata remain: an operator releases them, or ends the rollout without them. */
function endWithoutHeld({ rollout, strata }: AssessedView, upgrades: number): Progress {
  const waiting = new Set(strata.filter((each) => each.waiting > 0).map(({ stratum }) => stratum));
  const labels = rollout.strata.held.flatMap(({ stratum, label }) => (waiting.has(stratum) ? [label] : []));
  if (!rollout.strata.endsWithoutHeld) return holdBecause({ kind: 'onlyHeldStrata', upgrades, labels });
  return doNow({ do: 'withdrawWaiting', reason: { kind: 'heldToTheEnd', labels } });
}

function doNow(...actions: readonly Action[]): Progress {
  return { actions, blockers: [], wakeAt: null, stops: false };
}

function saveChange(change: RolloutChange): Progress {
  return doNow({ do: 'save', change });
}

function stopWith(action: Action): Progress {
  return { actions: [action], blockers: [], wakeAt: null, stops: true };
}

function holdBecause(cause: HoldCause): Progress {
  return stopWith({ do: 'hold', cause });
}

function waitFor(...blockers: readonly Blocker[]): Progress {
  return { actions: [], blockers, wakeAt: null, stops: false };
}
