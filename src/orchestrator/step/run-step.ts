import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import type { UpgradeReason } from '../../rollout/model/upgrade-reason.ts';
import { isOffered } from '../../rollout/planning/target.ts';
import { isQuestionable, nextStep } from '../../rollout/upgrade/evolve.ts';
import type { FailedPoll, RowObservation, UpgradeFact } from '../../rollout/upgrade/facts.ts';
import {
  classifyCreateFailure,
  classifyPollFailure,
  describeFailure,
  type ServiceFailure,
} from '../../rollout/upgrade/failure-classes.ts';
import { isPollReplaced } from '../../rollout/upgrade/queued.ts';
import type { Step } from '../../rollout/upgrade/step.ts';
import { type Answer, type FleetService, sendWithinMs } from '../ports/fleet-service.ts';
import type { StepOutcome } from '../ports/leader.ts';
import { type ChangeRolloutParts, holdRollout } from '../records/change-rollout.ts';
import { type ChangeUpgradeParts, changeOf, recordFact } from '../records/change-upgrade.ts';
import { isGone } from '../watch/judge-inventory.ts';
import type { Observations } from '../watch/observations.ts';
import { findHold, findRival } from './find-claims.ts';

export interface StepParts extends ChangeRolloutParts, ChangeUpgradeParts {
  readonly fleet: FleetService;
  /**
   * Since when records come from the Redis that is there now: a replica that took over, or a file that was cut, may
   * show an upgrade as it was before its create. Always, where left out.
   */
  readonly trustedSince?: () => EpochMs;
  /** Rows of the inventory of the last minute; none, where left out. */
  readonly observations?: Observations;
  /** Names of all policies of the config. */
  readonly policies: readonly string[];
}

// Most runs make one call; a poll that clears the way for a create makes two.
const callsPerRunMax = 4;

// Until an unreadable record is repaired, by a person or by the leader, there is nothing to be done for it.
const unreadableAgainMs: DurationMs = 10_000;

// A daemon of the version that wrote it may run beside us, and take it then.
const newerAgainMs: DurationMs = 2_000;

// A daemon of its account may run beside us, and take it then; where none does, nobody takes it for hours.
const foreignAgainMs: DurationMs = 10_000;

// Whose it is will be known as soon as the service has answered.
const unknownAgainMs: DurationMs = 1_000;

const ours = { kind: 'own' } as const;

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
 * intent is stored before it leaves, and an intent without an answer is settled by polls (P1).
 * @throws when the store can't be reached; the job is then run again
 */
export async function runStep(
  parts: StepParts,
  of: { readonly rolloutId: string; readonly collectorId: number },
  signal: AbortSignal,
): Promise<StepOutcome> {
  for (let call = 0; call < callsPerRunMax && !signal.aborted; call += 1) {
    // Side by side: a save names the revisions of both.
    const [rollout, { upgrades, unreadable }] = await Promise.all([
      parts.store.loadRollout(of.rolloutId),
      parts.store.loadUpgrades(of.rolloutId, [of.collectorId]),
    ]);
    if (rollout?.unreadable?.kind === 'newer')
      return { job: 'comeBack', at: parts.clock.now() + newerAgainMs };
    if (unreadable.length > 0) return { job: 'comeBack', at: parts.clock.now() + unreadableAgainMs };
    const [upgrade] = upgrades;
    if (rollout === undefined || upgrade === undefined) return { job: 'end' };
    const step = nextStepOf(parts, upgrade);
    const outcome = outcomeOf(step);
    if (outcome !== undefined) return outcome;
    // A job goes to any daemon: one of another account leaves it to those whose collectors these are (P5).
    const account = (await parts.accounts?.statusOf(rollout)) ?? ours;
    if (account.kind !== 'own') {
      const againMs = account.kind === 'unknown' ? unknownAgainMs : foreignAgainMs;
      return { job: 'comeBack', at: parts.clock.now() + againMs };
    }
    const after = await execute({ parts, rollout, signal }, upgrade, step);
    // What was just stored is as good as another reading, and nearly every step ends here.
    const outcomeAfter = outcomeOf(nextStepOf(parts, after));
    if (outcomeAfter !== undefined) return outcomeAfter;
  }
  return { job: 'comeBack', at: parts.clock.now() };
}

function nextStepOf({ clock, trustedSince }: StepParts, upgrade: Upgrade): Step {
  return nextStep(upgrade, clock.now(), trustedSince?.());
}

/** What the job does when there is no call to make now. */
function outcomeOf(step: Step): StepOutcome | undefined {
  if (step.do === 'rest') return { job: 'end' };
  if (step.do === 'wait') return { job: 'comeBack', at: step.until };
  return undefined;
}

const executors: Executors = {
  rest: async (_run, upgrade) => upgrade,
  wait: async (_run, upgrade) => upgrade,
  giveBack: (run, upgrade, { reason }) => putBack(run, upgrade, reason),
  start,
  pollTask: async (run, upgrade, { taskId }) => {
    const answer = await run.parts.fleet.pollTask(taskId, run.signal);
    const at = run.parts.clock.now();
    if (!answer.ok) return pollFailed(run, upgrade, 'task', answer.failure);
    return record(run, upgrade, { kind: 'taskSeen', at, ...answer.value });
  },
  pollCollector: async (run, upgrade, step) => {
    const row = rowInsteadOfPoll(run, upgrade, step);
    if (row !== undefined) return record(run, upgrade, { kind: 'collectorSeen', ...row, upgradable: null });
    const poll = {
      collectorId: upgrade.identity.collectorId,
      upgradableTo: step.askUpgradable ? upgrade.identity.toBuild : null,
      urgent: step.why !== 'deferred' && step.why !== 'watchBuild',
      // Creates that Redis may have lost were sent before, and have arrived by then, or never will.
      ...(step.why === 'recheck'
        ? { listedSince: (run.parts.trustedSince?.() ?? 0) + run.parts.answerWithinMs }
        : {}),
    };
    const answer = await run.parts.fleet.pollCollector(poll, run.signal);
    const at = run.parts.clock.now();
    if (!answer.ok) return pollFailed(run, upgrade, 'collector', answer.failure);
    return record(run, upgrade, { kind: 'collectorSeen', at, ...answer.value });
  },
  askBuilds,
};

/** What a page showed of it in the last minute, where that is as good as a poll before its create. */
function rowInsteadOfPoll(
  { parts: { observations, clock } }: Run,
  upgrade: Upgrade,
  { why, askUpgradable }: Extract<Step, { do: 'pollCollector' }>,
): RowObservation | undefined {
  if (why !== 'recheck' || askUpgradable) return undefined;
  const row = observations?.find(upgrade.identity.collectorId, clock.now());
  return row !== undefined && isPollReplaced(upgrade, row) ? row : undefined;
}

function execute(run: Run, upgrade: Upgrade, step: Step): Promise<Upgrade> {
  // The table is exhaustive by type; TypeScript can't see that the row and the step belong together.
  const executor = executors[step.do] as (run: Run, upgrade: Upgrade, step: Step) => Promise<Upgrade>;
  return executor(run, upgrade, step);
}

/** Its place in the budget, its intent, the create. Killed after the intent, it is settled by polls (P1). */
async function start(run: Run, upgrade: Upgrade): Promise<Upgrade> {
  const { parts, signal } = run;
  const stopped = await stopBeforeCreate(run, upgrade);
  if (stopped !== undefined) return stopped;
  const { collectorId, toBuild } = upgrade.identity;
  const reserved = await parts.fleet.reserveCreate({ collectorId, toBuild }, signal);
  if (!reserved.ok) return upgrade;
  let intent = upgrade;
  try {
    intent = await writeIntent(run, upgrade);
  } finally {
    if (intent.progress.state !== 'starting') reserved.value.giveUp();
  }
  if (intent.progress.state !== 'starting') return intent;
  return recordAnswer(run, intent, await reserved.value.send());
}

/** What stands against a create, and what comes of it; undefined: nothing. */
async function stopBeforeCreate(run: Run, upgrade: Upgrade): Promise<Upgrade | undefined> {
  const { parts, rollout } = run;
  if (rollout.state !== 'running')
    return putBack(run, upgrade, { kind: 'rolloutStopped', state: rollout.state });
  if (rollout.doubt !== undefined)
    return putBack(run, upgrade, { kind: 'inventory', why: rollout.doubt.why });
  // Its turn was given by windows, caps and slots that are no more (P2, P7).
  if ((upgrade.tally.turnChanges ?? 0) !== (rollout.config?.changes ?? 0))
    return putBack(run, upgrade, { kind: 'policyChanged' });
  const held = rollout.heldStrata.find(({ stratum }) => stratum === upgrade.identity.stratum);
  if (held !== undefined)
    return putBack(run, upgrade, { kind: 'stratumHeld', label: held.label, reason: held.reason });
  const { collectorId } = upgrade.identity;
  const [hold, rival] = await Promise.all([
    findHold(parts, collectorId),
    findRival(parts, rollout, collectorId),
  ]);
  if (hold !== undefined) {
    const reason = { kind: 'collectorHeld', by: hold.by, words: hold.reason } as const;
    return record(run, upgrade, { kind: 'withdrawn', at: parts.clock.now(), reason });
  }
  return rival === undefined ? undefined : claimedBy(run, upgrade, rival);
}

/**
 * Its place in the budget may have come late: somebody else may have started meanwhile, its window may be closing (P7), and
 * what was seen of the collector may be old (P1). `nextStep` says what is to be done instead.
 * @returns the upgrade in `starting` where its create may leave now
 */
async function writeIntent(run: Run, upgrade: Upgrade): Promise<Upgrade> {
  const { parts, rollout } = run;
  const rival = await findRival(parts, rollout, upgrade.identity.collectorId);
  if (rival !== undefined) return claimedBy(run, upgrade, rival);
  const current = await refresh(run, upgrade);
  const fact: UpgradeFact = { kind: 'createSent', at: parts.clock.now() };
  if (nextStep(current, fact.at, parts.trustedSince?.()).do !== 'start') return current;
  const change = changeOf(parts, rollout, current, fact);
  const result = await parts.store.saveIntent(change, rollout.rev);
  if (result === 'braked') return putBack(run, current, { kind: 'braked' });
  if (result !== 'saved') return current;
  for (const event of change.events) parts.sink.report(event);
  if (parts.clock.now() - fact.at <= sendWithinMs) return change.after;
  reportLate(parts);
  return record(run, change.after, { kind: 'createNotSent', at: parts.clock.now() });
}

/** A place that came late is lost when it is given back, and a row of the last minute is as good as a poll. */
async function refresh(run: Run, upgrade: Upgrade): Promise<Upgrade> {
  const step = nextStepOf(run.parts, upgrade);
  const row = step.do === 'pollCollector' ? rowInsteadOfPoll(run, upgrade, step) : undefined;
  if (row === undefined) return upgrade;
  return record(run, upgrade, { kind: 'collectorSeen', ...row, upgradable: null });
}

async function recordAnswer(
  run: Run,
  upgrade: Upgrade,
  answer: Answer<{ readonly taskId: string }>,
): Promise<Upgrade> {
  const { parts, rollout, signal } = run;
  const at = parts.clock.now();
  if (answer.ok) return record(run, upgrade, { kind: 'created', at, taskId: answer.value.taskId });
  if (answer.failure.kind === 'cancelled' && !answer.failure.sent) {
    if (!signal.aborted) reportLate(parts);
    return record(run, upgrade, { kind: 'createNotSent', at });
  }
  const next = await record(run, upgrade, { kind: 'createFailed', at, failure: answer.failure });
  if (classifyCreateFailure(answer.failure) === 'hold')
    await holdRollout(parts, rollout.id, {
      kind: 'serviceRefuses',
      detail: describeFailure(answer.failure),
    });
  return next;
}

/** Creates that are given back again and again look like a rollout that waits for no reason. */
function reportLate({ sink }: StepParts): void {
  sink.note({ event: 'daemon.starved', late: { kind: 'create', withinMs: sendWithinMs } });
}

function claimedBy(run: Run, upgrade: Upgrade, rival: string): Promise<Upgrade> {
  const reason = { kind: 'claimed', rollout: rival } as const;
  return record(run, upgrade, { kind: 'claimed', at: run.parts.clock.now(), reason });
}

function putBack(run: Run, upgrade: Upgrade, reason: UpgradeReason): Promise<Upgrade> {
  return record(run, upgrade, { kind: 'putBack', at: run.parts.clock.now(), reason });
}

/** Whether a refused build is gone, which concerns every collector, or still on offer, which concerns only this one. */
async function askBuilds(run: Run, upgrade: Upgrade): Promise<Upgrade> {
  const { parts, rollout, signal } = run;
  const builds = await parts.fleet.listBuilds(signal);
  if (!builds.ok) return pollFailed(run, upgrade, 'builds', builds.failure);
  const stillOffered = isOffered(upgrade.identity.toBuild, builds.value);
  // First: killed after this, the next run asks again, and nothing starts meanwhile (P6).
  if (!stillOffered) {
    await holdRollout(parts, rollout.id, { kind: 'buildNotOffered', build: upgrade.identity.toBuild });
  }
  return record(run, upgrade, { kind: 'buildsSeen', at: parts.clock.now(), stillOffered });
}

async function pollFailed(
  run: Run,
  upgrade: Upgrade,
  of: FailedPoll['of'],
  failure: ServiceFailure,
): Promise<Upgrade> {
  if (failure.kind === 'cancelled') return upgrade;
  const { fleet, clock } = run.parts;
  if (of === 'collector' && failure.kind === 'notFound') {
    const gone = await isGone(run.parts, run.rollout, upgrade.identity.collectorId, run.signal);
    if (run.signal.aborted) return upgrade;
    return record(run, upgrade, { kind: 'pollFailed', at: clock.now(), of, failure, isGone: gone });
  }
  const asked = isQuestionable(upgrade, failure, clock.now(), run.rollout.policy)
    ? { othersAnswered: (await fleet.listBuilds(run.signal)).ok }
    : {};
  const next = await record(run, upgrade, { kind: 'pollFailed', at: clock.now(), of, failure, ...asked });
  if (classifyPollFailure(failure) === 'hold') {
    await holdRollout(run.parts, run.rollout.id, {
      kind: 'serviceRefuses',
      detail: describeFailure(failure),
    });
  }
  return next;
}

function record(run: Run, upgrade: Upgrade, fact: UpgradeFact): Promise<Upgrade> {
  return recordFact(run.parts, run.rollout, upgrade, fact);
}
