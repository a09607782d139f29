import type { DurationMs } from '../../base/time.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import { isOffered } from '../../rollout/planning/target.ts';
import { isQuestionable } from '../../rollout/upgrade/evolve.ts';
import type { FailedPoll } from '../../rollout/upgrade/facts.ts';
import {
  classifyPollFailure,
  describeFailure,
  type ServiceFailure,
} from '../../rollout/upgrade/failure-classes.ts';
import type { Step } from '../../rollout/upgrade/step.ts';
import type { Answer } from '../ports/fleet-service.ts';
import type { StepOutcome } from '../ports/leader.ts';
import { holdRollout } from '../records/change-rollout.ts';
import { isGone } from '../watch/judge-inventory.ts';
import { startUpgrade } from './start-upgrade.ts';
import {
  nextStepOf,
  putBack,
  type Run,
  recordStepFact,
  rowInsteadOfPoll,
  type StepParts,
} from './step-run.ts';

// Most runs make one request. A poll that is followed by a create makes two.
const callsPerRunMax = 4;

// An unreadable record has no step until an operator restores it.
const unreadableAgainMs: DurationMs = 10_000;

// Another daemon may have the version that wrote the record, and takes the job then.
const newerAgainMs: DurationMs = 2_000;

// Another daemon may belong to the rollout's account, and takes the job then. Without one, it may wait for hours.
const foreignAgainMs: DurationMs = 10_000;

// Another daemon may take the job at once. The clocks are compared every two seconds.
const clockAgainMs = 2_000;

// The account will be known as soon as the service has answered, which may be after an outage of hours.
const unknownAgainMs: DurationMs = 5_000;

const ours = { kind: 'own' } as const;

type Executors = {
  readonly [Kind in Step['do']]: (
    run: Run,
    upgrade: Upgrade,
    step: Extract<Step, { do: Kind }>,
  ) => Promise<Upgrade>;
};

/**
 * Runs one upgrade's due step: `nextStep` names the request, its executor makes it, `evolve` applies the fact, and the
 * record is stored before anything else happens. It is safe to repeat, and to kill between any two lines: a create's intent
 * is stored before the create is sent, and an intent without an answer is settled by polls (P1).
 * @throws if the store is unreachable; the job is then run again
 */
export async function runStep(
  parts: StepParts,
  ids: { readonly rolloutId: string; readonly collectorId: number },
  signal: AbortSignal,
): Promise<StepOutcome> {
  for (let call = 0; call < callsPerRunMax && !signal.aborted; call += 1) {
    if (!parts.isClockRight()) return { job: 'comeBack', at: parts.clock.now() + clockAgainMs };
    // In parallel. A save names the revisions of both, so the two reads need not be consistent.
    const [rollout, { upgrades, unreadable }] = await Promise.all([
      parts.store.loadRollout(ids.rolloutId),
      parts.store.loadUpgrades(ids.rolloutId, [ids.collectorId]),
    ]);
    if (rollout?.unreadable?.kind === 'newer')
      return { job: 'comeBack', at: parts.clock.now() + newerAgainMs };
    // An aborted rollout ends without them.
    const isOpen = rollout !== undefined && rollout.endedAt === null;
    if (unreadable.length > 0 && isOpen)
      return { job: 'comeBack', at: parts.clock.now() + unreadableAgainMs };
    const [upgrade] = upgrades;
    if (rollout === undefined || upgrade === undefined) return { job: 'end' };
    const step = nextStepOf(parts, upgrade);
    const outcome = outcomeOf(step);
    if (outcome !== undefined) return outcome;
    // Any daemon gets the job. A daemon of another account leaves it to those of the rollout's account (P5).
    const account = (await parts.accounts?.statusOf(rollout)) ?? ours;
    if (account.kind !== 'own') {
      const againMs = account.kind === 'unknown' ? unknownAgainMs : foreignAgainMs;
      return { job: 'comeBack', at: parts.clock.now() + againMs };
    }
    const after = await execute({ parts, rollout, signal }, upgrade, step);
    // The record that was just stored needs no second read, and nearly every step ends here.
    const outcomeAfter = outcomeOf(nextStepOf(parts, after));
    if (outcomeAfter !== undefined) return outcomeAfter;
  }
  return { job: 'comeBack', at: parts.clock.now() };
}

/** What the job does if no request is due. */
function outcomeOf(step: Step): StepOutcome | undefined {
  if (step.do === 'rest') return { job: 'end' };
  if (step.do === 'wait') return { job: 'comeBack', at: step.until };
  return undefined;
}

const executors: Executors = {
  rest: async (_run, upgrade) => upgrade,
  wait: async (_run, upgrade) => upgrade,
  giveBack: (run, upgrade, { reason }) => putBack(run, upgrade, reason),
  start: startUpgrade,
  pollTask: async (run, upgrade, { taskId }) => {
    const answer = await run.parts.fleet.pollTask(taskId, run.signal);
    const at = run.parts.clock.now();
    if (!answer.ok) return pollFailed(run, upgrade, 'task', answer.failure);
    return recordStepFact(run, upgrade, { kind: 'taskSeen', at, ...answer.value });
  },
  pollCollector: async (run, upgrade, step) => {
    const row = rowInsteadOfPoll(run, upgrade, step);
    if (row !== undefined)
      return recordStepFact(run, upgrade, { kind: 'collectorSeen', ...row, upgradable: null });
    const poll = {
      collectorId: upgrade.identity.collectorId,
      upgradableTo: step.askUpgradable ? upgrade.identity.toBuild : null,
      urgent: step.why !== 'deferred' && step.why !== 'watchBuild',
      // Creates that Redis may have lost were sent before this instant. By then they have arrived, or never will.
      ...(step.why === 'recheck' ? { listedSince: run.parts.trustedSince() + run.parts.answerWithinMs } : {}),
    };
    const answer = await run.parts.fleet.pollCollector(poll, run.signal);
    const at = run.parts.clock.now();
    if (!answer.ok) return pollFailed(run, upgrade, 'collector', answer.failure);
    if (step.why === 'recheck' && answer.value.isBuildRefused) {
      const offered = await readIsOffered(run, upgrade);
      if (!offered.ok) return pollFailed(run, upgrade, 'builds', offered.failure);
      if (!offered.value) return putBack(run, upgrade, { kind: 'buildNotOffered' });
    }
    return recordStepFact(run, upgrade, { kind: 'collectorSeen', at, ...answer.value });
  },
  askBuilds,
};

function execute(run: Run, upgrade: Upgrade, step: Step): Promise<Upgrade> {
  // The table is exhaustive by type, but TypeScript cannot see that the row and the step belong together.
  const executor = executors[step.do] as (run: Run, upgrade: Upgrade, step: Step) => Promise<Upgrade>;
  return executor(run, upgrade, step);
}

async function askBuilds(run: Run, upgrade: Upgrade): Promise<Upgrade> {
  const offered = await readIsOffered(run, upgrade);
  if (!offered.ok) return pollFailed(run, upgrade, 'builds', offered.failure);
  return recordStepFact(run, upgrade, {
    kind: 'buildsSeen',
    at: run.parts.clock.now(),
    stillOffered: offered.value,
  });
}

/**
 * Checks whether a refused build is withdrawn, which affects all collectors and holds the rollout, or still offered, which
 * affects this collector.
 */
async function readIsOffered(
  { parts, rollout, signal }: Run,
  { identity: { toBuild } }: Upgrade,
): Promise<Answer<boolean>> {
  const builds = await parts.fleet.listBuilds(signal);
  if (!builds.ok) return builds;
  const isStillOffered = isOffered(toBuild, builds.value);
  // The hold comes first: if the process is killed after it, the next run asks again, and nothing starts meanwhile (P6).
  if (!isStillOffered) await holdRollout(parts, rollout.id, { kind: 'buildNotOffered', build: toBuild });
  return { ok: true, value: isStillOffered };
}

async function pollFailed(
  run: Run,
  upgrade: Upgrade,
  polled: FailedPoll['of'],
  failure: ServiceFailure,
): Promise<Upgrade> {
  if (failure.kind === 'cancelled') return upgrade;
  const { fleet, clock } = run.parts;
  if (polled === 'collector' && failure.kind === 'notFound') {
    const gone = await isGone(run.parts, run.rollout, upgrade.identity.collectorId, run.signal);
    if (run.signal.aborted) return upgrade;
    return recordStepFact(run, upgrade, {
      kind: 'pollFailed',
      at: clock.now(),
      of: polled,
      failure,
      isGone: gone,
    });
  }
  const asked = isQuestionable(upgrade, failure, clock.now(), run.rollout.policy)
    ? { othersAnswered: (await fleet.listBuilds(run.signal)).ok }
    : {};
  const next = await recordStepFact(run, upgrade, {
    kind: 'pollFailed',
    at: clock.now(),
    of: polled,
    failure,
    ...asked,
  });
  if (classifyPollFailure(failure) === 'hold') {
    await holdRollout(run.parts, run.rollout.id, {
      kind: 'serviceRefuses',
      detail: describeFailure(failure),
    });
  }
  return next;
}
