import type { Rollout } from '../../rollout/model/rollout.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import { isUnderWay } from '../../rollout/model/upgrade.ts';
import type { UpgradeReason } from '../../rollout/model/upgrade-reason.ts';
import { nextStep } from '../../rollout/upgrade/evolve.ts';
import type { UpgradeFact } from '../../rollout/upgrade/facts.ts';
import { classifyCreateFailure, describeFailure } from '../../rollout/upgrade/failure-classes.ts';
import { type Answer, sendWithinMs } from '../ports/fleet-service.ts';
import { holdRollout } from '../records/change-rollout.ts';
import { changeOf } from '../records/change-upgrade.ts';
import {
  nextStepOf,
  putBack,
  type Run,
  recordStepFact,
  rowInsteadOfPoll,
  type StepParts,
} from './step-run.ts';

/** Takes a place in the API budget, stores the intent, and sends the create. Polls settle a crash in between (P1). */
export async function startUpgrade(run: Run, upgrade: Upgrade): Promise<Upgrade> {
  const { parts, signal } = run;
  const stopped = await stopBeforeCreate(run, upgrade);
  if (stopped !== undefined) return stopped;
  const { collectorId, toBuild } = upgrade.identity;
  const reserved = await parts.fleet.reserveCreate({ collectorId, toBuild }, signal);
  if (!reserved.ok) return upgrade;
  let intent: Intent = { isOurs: false, upgrade };
  try {
    intent = await writeIntent(run, upgrade);
  } finally {
    if (!intent.isOurs) reserved.value.giveUp();
  }
  if (!intent.isOurs) return intent.upgrade;
  return recordAnswer(run, intent.upgrade, await reserved.value.send());
}

/**
 * What became of the intent. Not the state of the upgrade shows whether this run may send: another run of the same job may
 * have stored its own intent meanwhile, and sends that create (P1).
 */
interface Intent {
  readonly isOurs: boolean;
  readonly upgrade: Upgrade;
}

/** Records what prevents the create; undefined if nothing does. */
async function stopBeforeCreate(run: Run, upgrade: Upgrade): Promise<Upgrade | undefined> {
  const { parts, rollout } = run;
  if (rollout.state !== 'running')
    return putBack(run, upgrade, { kind: 'rolloutStopped', state: rollout.state });
  const missing = missingPolicy(run);
  if (missing !== undefined) return putBack(run, upgrade, missing);
  if (rollout.inventory.implausible !== null)
    return putBack(run, upgrade, { kind: 'inventory', why: rollout.inventory.implausible.why });
  // The windows, caps and slots of its admission no longer apply (P2, P7): a reload replaced them, or the next wave opened.
  if ((upgrade.tally.turnChanges ?? 0) !== rollout.config.changes)
    return putBack(run, upgrade, { kind: 'policyChanged' });
  const held = rollout.strata.held.find(({ stratum }) => stratum === upgrade.identity.stratum);
  if (held !== undefined)
    return putBack(run, upgrade, { kind: 'stratumHeld', label: held.label, reason: held.reason });
  const { collectorId } = upgrade.identity;
  // An operator may have held it since its admission, for example while its create was in doubt (P5).
  const [[hold], claimant] = await Promise.all([
    parts.register.holdsOf([collectorId]),
    findClaimingRollout(parts, rollout, collectorId),
  ]);
  if (hold !== undefined) {
    const reason = { kind: 'collectorHeld', by: hold.by, words: hold.reason } as const;
    return recordStepFact(run, upgrade, { kind: 'withdrawn', at: parts.clock.now(), reason });
  }
  return claimant === undefined ? undefined : claimedBy(run, upgrade, claimant);
}

/** A policy that was renamed or removed starts nothing more. Another policy may plan its collectors (P1, P2). */
function missingPolicy({ parts, rollout }: Run): UpgradeReason | undefined {
  const { name } = rollout.policy;
  return parts.claims.isMissing(name) ? { kind: 'policyMissing', policy: name } : undefined;
}

/**
 * Stores the intent, if the create may still be sent. While it waited for the budget, the policy may have been removed, the
 * window may be closing (P7), or the last observation may be outdated (P1). Other rollouts are read after the intent is
 * stored: of two that start the same collector at the same moment, at least one sees the other's intent.
 */
async function writeIntent(run: Run, upgrade: Upgrade): Promise<Intent> {
  const { parts, rollout } = run;
  const current = await refresh(run, upgrade);
  // After a suspension, an old observation would seem fresh, and a closed window open, until the clocks are compared.
  if (!parts.isClockRight()) return notSent(current);
  const isIntentKept = parts.beginIntent();
  const fact: UpgradeFact = { kind: 'createSent', at: parts.clock.now() };
  if (nextStep(current, fact.at, parts.trustedSince()).do !== 'start') return notSent(current);
  const missing = missingPolicy(run);
  if (missing !== undefined) return notSent(await putBack(run, current, missing));
  const change = changeOf(parts, rollout, current, fact);
  const result = await parts.store.saveIntent(change, rollout.rev);
  if (result === 'braked') return notSent(await putBack(run, current, { kind: 'braked' }));
  if (result !== 'saved') return notSent(current);
  for (const event of change.events) parts.sink.report(event);
  const [claimant, isKept] = await Promise.all([
    findClaimingRollout(parts, rollout, upgrade.identity.collectorId),
    // Without it, an intent that Redis loses would go unnoticed, and the collector would get a second create (P1).
    isIntentKept(),
  ]);
  const isLate = parts.clock.now() - fact.at > sendWithinMs;
  if (claimant === undefined && isKept && !isLate) return { isOurs: true, upgrade: change.after };
  if (isLate) reportLate(parts);
  const queued = await recordStepFact(run, change.after, { kind: 'createNotSent', at: parts.clock.now() });
  return notSent(claimant === undefined ? queued : await claimedBy(run, queued, claimant));
}

function notSent(upgrade: Upgrade): Intent {
  return { isOurs: false, upgrade };
}

/** Uses a row of the last minute instead of a poll, because returning the place in the budget would waste it. */
async function refresh(run: Run, upgrade: Upgrade): Promise<Upgrade> {
  const step = nextStepOf(run.parts, upgrade);
  const row = step.do === 'pollCollector' ? rowInsteadOfPoll(run, upgrade, step) : undefined;
  if (row === undefined) return upgrade;
  return recordStepFact(run, upgrade, { kind: 'collectorSeen', ...row, upgradable: null });
}

async function recordAnswer(
  run: Run,
  upgrade: Upgrade,
  answer: Answer<{ readonly taskId: string }>,
): Promise<Upgrade> {
  const { parts, rollout, signal } = run;
  const at = parts.clock.now();
  if (answer.ok) return recordStepFact(run, upgrade, { kind: 'created', at, taskId: answer.value.taskId });
  if (answer.failure.kind === 'cancelled' && !answer.failure.sent) {
    if (!signal.aborted) reportLate(parts);
    return recordStepFact(run, upgrade, { kind: 'createNotSent', at });
  }
  const next = await recordStepFact(run, upgrade, { kind: 'createFailed', at, failure: answer.failure });
  if (classifyCreateFailure(answer.failure) === 'hold')
    await holdRollout(parts, rollout.id, {
      kind: 'serviceRefuses',
      detail: describeFailure(answer.failure),
    });
  return next;
}

/** Reports creates that were not sent in time, because the rollout would seem to wait without a reason. */
function reportLate({ sink }: StepParts): void {
  sink.note({ event: 'daemon.starved', late: { kind: 'create', withinMs: sendWithinMs } });
}

function claimedBy(run: Run, upgrade: Upgrade, claimant: string): Promise<Upgrade> {
  const reason = { kind: 'claimed', rollout: claimant } as const;
  return recordStepFact(run, upgrade, { kind: 'claimed', at: run.parts.clock.now(), reason });
}

/**
 * Finds a rollout of another policy that is upgrading the same collector, because two rollouts may have been planned at the
 * same moment. A poll is not enough: during its restart, the collector still shows its old build (P1).
 */
async function findClaimingRollout(
  { store, claims }: StepParts,
  rollout: Rollout,
  collectorId: number,
): Promise<string | undefined> {
  const others = (await claims.names()).filter((name) => name !== rollout.policy.name);
  if (others.length === 0) return undefined;
  const found = await store.findUpgradesOf(others, collectorId);
  // An upgrade with an unreadable record may be running.
  return found.find(({ upgrade }) => upgrade === undefined || isUnderWay(upgrade.progress.state))?.rolloutId;
}
