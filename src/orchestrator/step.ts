import type { DurationMs, EpochMs } from '../base/time.ts';
import { evolve } from '../rollout/evolve.ts';
import type { UpgradeFact } from '../rollout/facts.ts';
import {
  classifyCreateFailure,
  classifyLookFailure,
  describeFailure,
  type ServiceFailure,
} from '../rollout/failure-classes.ts';
import { tripAbove } from '../rollout/gate.ts';
import { nextStep, type Step } from '../rollout/next-step.ts';
import type { Rollout } from '../rollout/rollout.ts';
import { isOffered } from '../rollout/target.ts';
import { holdsSlot, type Upgrade } from '../rollout/upgrade.ts';
import { type ChangeRolloutParts, holdRollout, sendWithinMs } from './change-rollout.ts';
import { describeUpgradeChange } from './describe-change.ts';
import type { FleetService } from './ports.ts';

export interface StepParts extends ChangeRolloutParts {
  readonly fleet: FleetService;
  /** From 0 to 1. */
  readonly random: () => number;
  /** A create sent longer ago than this has been answered, or never will be. */
  readonly answerWithinMs: DurationMs;
}

/** What the job does next: come back at an instant, or end. */
export type StepOutcome = { readonly job: 'comeBack'; readonly at: EpochMs } | { readonly job: 'end' };

// Most runs make one call; a look that clears the way for a create makes two.
const callsPerRunMax = 4;

// Rivals for one record are the job's own earlier run, and an operator.
const rivalsMax = 5;

interface Run {
  readonly parts: StepParts;
  readonly rollout: Rollout;
  readonly signal: AbortSignal;
}

type Executors = {
  readonly [Kind in Step['do']]: (
    run: Run,
    upgrade: Upgrade,
    step: Extract<Step, { do: Kind }>,
  ) => Promise<Upgrade>;
};

/**
 * Runs one upgrade's due step: `nextStep` names the call, its executor makes it, the fact goes through `evolve`, and
 * the record is stored before anything else happens. Safe to repeat and to kill between any two lines: a create's
 * intent is stored before it leaves, and an intent without an answer is settled by looking (P1).
 * @throws when the store can't be reached; the job is then run again
 */
export async function runStep(
  parts: StepParts,
  of: { readonly rolloutId: string; readonly collectorId: number },
  signal: AbortSignal,
): Promise<StepOutcome> {
  for (let call = 0; call < callsPerRunMax && !signal.aborted; call += 1) {
    const rollout = await parts.store.loadRollout(of.rolloutId);
    const upgrade = await parts.store.loadUpgrade(of.rolloutId, of.collectorId);
    if (rollout === undefined || upgrade === undefined) return { job: 'end' };
    const step = nextStep(upgrade, parts.clock.now());
    if (step.do === 'rest') return { job: 'end' };
    if (step.do === 'wait') return { job: 'comeBack', at: step.until };
    await execute({ parts, rollout, signal }, upgrade, step);
  }
  return { job: 'comeBack', at: parts.clock.now() };
}

const executors: Executors = {
  rest: async (_run, upgrade) => upgrade,
  wait: async (_run, upgrade) => upgrade,
  start,
  lookAtTask: async (run, upgrade, { taskId }) => {
    const answer = await run.parts.fleet.lookAtTask(taskId, run.signal);
    const at = run.parts.clock.now();
    if (!answer.ok) return lookFailed(run, upgrade, 'task', answer.failure);
    return record(run, upgrade, { kind: 'taskSeen', at, ...answer.value });
  },
  lookAtCollector: async (run, upgrade, step) => {
    const look = {
      collectorId: upgrade.collectorId,
      upgradableTo: step.askUpgradable ? run.rollout.targetBuild : null,
      urgent: step.why !== 'deferred' && step.why !== 'watchBuild',
    };
    const answer = await run.parts.fleet.lookAtCollector(look, run.signal);
    const at = run.parts.clock.now();
    if (!answer.ok) return lookFailed(run, upgrade, 'collector', answer.failure);
    return record(run, upgrade, { kind: 'collectorSeen', at, ...answer.value });
  },
};

function execute(run: Run, upgrade: Upgrade, step: Step): Promise<Upgrade> {
  // The table is exhaustive by type; TypeScript can't see that the row and the step belong together.
  const executor = executors[step.do] as (run: Run, upgrade: Upgrade, step: Step) => Promise<Upgrade>;
  return executor(run, upgrade, step);
}

/** Writes the intent when the request has its place in the budget, sends it, and stores what came of it. */
async function start(run: Run, upgrade: Upgrade): Promise<Upgrade> {
  const { parts, rollout, signal } = run;
  if (rollout.state !== 'running') {
    return record(run, upgrade, {
      kind: 'putBack',
      at: parts.clock.now(),
      reason: `the rollout is ${rollout.state}`,
    });
  }
  let current = upgrade;
  let isBraked = false;
  const writeIntent = async (): Promise<boolean> => {
    const fact: UpgradeFact = { kind: 'createSent', at: parts.clock.now() };
    const change = changeOf(run, upgrade, fact);
    const result = await parts.store.saveIntent(change);
    isBraked = result === 'braked';
    if (result !== 'saved') return false;
    current = change.after;
    for (const event of change.events) parts.sink.tell(event);
    if (parts.clock.now() - fact.at <= sendWithinMs) return true;
    current = await record(run, current, { kind: 'createNotSent', at: parts.clock.now() });
    return false;
  };
  const task = { collectorId: upgrade.collectorId, toBuild: rollout.targetBuild };
  const answer = await parts.fleet.createTask(task, writeIntent, signal);
  const at = parts.clock.now();
  if (isBraked)
    return record(run, upgrade, { kind: 'putBack', at, reason: 'the rollout stopped before it could start' });
  if (current.state !== 'starting') return current;
  if (answer.ok) return record(run, current, { kind: 'created', at, taskId: answer.value.taskId });
  if (answer.failure.kind === 'cancelled' && !answer.failure.sent) {
    return record(run, current, { kind: 'createNotSent', at });
  }
  if (answer.failure.kind === 'refused' && answer.failure.code === 'collector.version.invalid') {
    return versionRefused(run, current);
  }
  const next = await record(run, current, { kind: 'createFailed', at, failure: answer.failure });
  if (classifyCreateFailure(answer.failure) === 'hold') {
    await holdRollout(parts, rollout.id, describeFailure(answer.failure));
  }
  return next;
}

/** `collector.version.invalid`: a build that is gone concerns every collector, one still offered only this one. */
async function versionRefused(run: Run, upgrade: Upgrade): Promise<Upgrade> {
  const { parts, rollout, signal } = run;
  const builds = await parts.fleet.listBuilds(signal);
  if (!builds.ok) return upgrade;
  const stillOffered = isOffered(rollout.targetBuild, builds.value);
  const next = await record(run, upgrade, { kind: 'versionRefused', at: parts.clock.now(), stillOffered });
  if (!stillOffered) {
    await holdRollout(parts, rollout.id, `build ${rollout.targetBuild} is no longer offered by the service`);
  }
  return next;
}

async function lookFailed(
  run: Run,
  upgrade: Upgrade,
  of: 'task' | 'collector',
  failure: ServiceFailure,
): Promise<Upgrade> {
  if (failure.kind === 'cancelled') return upgrade;
  const next = await record(run, upgrade, { kind: 'lookFailed', at: run.parts.clock.now(), of, failure });
  if (classifyLookFailure(failure) === 'hold') {
    await holdRollout(run.parts, run.rollout.id, describeFailure(failure));
  }
  return next;
}

/** Stores what a fact makes of the record; when someone else changed it meanwhile, the fact is weighed anew. */
async function record(run: Run, upgrade: Upgrade, fact: UpgradeFact): Promise<Upgrade> {
  const { parts, rollout } = run;
  let current = upgrade;
  for (let rival = 0; rival < rivalsMax; rival += 1) {
    const change = changeOf(run, current, fact);
    if (change.after === current) return current;
    const result = await parts.store.saveUpgrade(change, tripAboveOf(rollout, current));
    if (result === 'saved') {
      for (const event of change.events) parts.sink.tell(event);
      if (holdsSlot(current.state) !== holdsSlot(change.after.state) || change.events.length > 0)
        parts.bell.ring();
      return change.after;
    }
    const fresh = await parts.store.loadUpgrade(rollout.id, upgrade.collectorId);
    if (fresh === undefined) return current;
    current = fresh;
  }
  return current;
}

function changeOf(run: Run, before: Upgrade, fact: UpgradeFact) {
  const { parts, rollout } = run;
  const after = evolve(before, fact, {
    policy: rollout.policy,
    targetBuild: rollout.targetBuild,
    answerWithinMs: parts.answerWithinMs,
    jitter: parts.random() * 2 - 1,
  });
  return { before, after, events: describeUpgradeChange(rollout, before, after, fact) };
}

function tripAboveOf(rollout: Rollout, upgrade: Upgrade): number | null {
  const wave = rollout.waves[upgrade.wave];
  const rule = rollout.policy.waves[upgrade.wave];
  return wave === undefined || rule === undefined ? null : tripAbove(wave, rule);
}
