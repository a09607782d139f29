import type { EpochMs } from '../../base/time.ts';
import { judgeLane } from '../decision/admission.ts';
import type { Hold } from '../decision/blocker.ts';
import { decide } from '../decision/decide.ts';
import type { Action } from '../decision/decision.ts';
import { assessedAt, hasBegun } from '../decision/failure-limits.ts';
import { decideUnreadable } from '../decision/unreadable-upgrades.ts';
import { awaitsDeferred, awaitsDeferredAlone, soakWords, waveWaits } from '../decision/wave-blockers.ts';
import type { RolloutView } from '../model/rollout.ts';
import type { ProgressIn, Upgrade } from '../model/upgrade.ts';
import { stateWords } from '../model/upgrade.ts';

/**
 * Why one collector is where it is, and when that changes, from the very rules that the daemon acts on (DESIGN §3).
 * An end says how it ended; a collector on its way, what is looked at next.
 */
export function explainUpgrade(view: RolloutView, upgrade: Upgrade, now: EpochMs): Hold {
  switch (upgrade.progress.state) {
    case 'pending':
      return explainWaiting(view, upgrade, now);
    case 'retrying':
      return upgrade.progress.dueAt > now && mayStart(view, upgrade)
        ? { reason: `is tried again: ${upgrade.progress.reason}`, until: upgrade.progress.dueAt }
        : asRetry(explainWaiting(view, upgrade, now), upgrade.progress, now);
    case 'deferred':
      return {
        reason: `deferred: ${upgrade.progress.reason}; looked at again`,
        until: upgrade.progress.dueAt,
      };
    case 'queued':
      if (upgrade.progress.refused !== undefined)
        return {
          reason: `the service refused its upgrade, and the collector is polled for the cause: ${upgrade.progress.refused.reason}`,
          until: upgrade.progress.dueAt,
        };
      if (upgrade.progress.heartbeatAfter !== undefined)
        return {
          reason: 'has a slot, and starts when a new heartbeat shows that it is not restarting',
          until: upgrade.progress.dueAt,
        };
      return { reason: 'has a slot, and starts as soon as the request rate allows', until: null };
    case 'starting':
      return { reason: 'its upgrade was asked for, and the answer is awaited or looked for', until: null };
    case 'upgrading':
      return {
        reason: `is being upgraded; its ${upgrade.progress.taskId === null ? 'build' : `task ${upgrade.progress.taskId}`} is looked at`,
        until: upgrade.progress.dueAt,
      };
    case 'verifying':
      return {
        reason: 'has been upgraded, and has to show the build and a heartbeat',
        until: upgrade.progress.verifyBy,
      };
    default:
      return { reason: `${stateWords(upgrade.progress.state)}: ${upgrade.progress.reason}`, until: null };
  }
}

/** The same of one whose record can't be read. */
export function explainUnreadable(view: RolloutView, collectorId: number, now: EpochMs): Hold {
  const unreadable = view.unreadable ?? { collectorIds: [], forMs: 0 };
  return decideUnreadable({ ...unreadable, collectorIds: [collectorId] }, view.rollout, now).hold;
}

function explainWaiting(view: RolloutView, upgrade: Upgrade, now: EpochMs): Hold {
  const { rollout } = view;
  const held = heldStratumOf(view, upgrade);
  if (held !== undefined) return { reason: `its stratum ${held.label} is held: ${held.reason}`, until: null };
  const { actions, holds } = decide(view, now);
  if (rollout.state !== 'running') return { reason: outageWords(rollout), until: null };
  const wave = rollout.waves[upgrade.identity.wave];
  if (wave !== undefined && !hasBegun(wave)) {
    const words = waveWaits(view, upgrade.identity.wave) ?? 'its turn';
    const current = rollout.waves.findIndex(({ state }) => state !== 'passed');
    if (assessedAt(view, current)?.assessment.evidence === 'awaited' && awaitsDeferredAlone(view)) {
      const awaited = awaitsDeferred(view, current);
      return { reason: `its wave ${wave.name} waits for: ${words}; ${awaited.reason}`, until: awaited.until };
    }
    return { reason: `its wave ${wave.name} waits for: ${words}`, until: soakEndOf(holds, rollout) };
  }
  const stopped = actions.some((action) => stoppingActions.has(action.do)) || view.braked;
  if (stopped && holds[0] !== undefined) return holds[0];
  const verdict = judgeLane(view, upgrade.identity.lane, now);
  if (verdict.kind === 'blocked') return { reason: verdict.reason, until: verdict.until };
  const { concurrency } = rollout.policy;
  if (view.slotsTaken >= concurrency) return { reason: `all ${concurrency} slots are taken`, until: null };
  return { reason: 'is next in turn', until: null };
}

/** A retry that waits for something else says all the same why it is one. */
function asRetry(hold: Hold, { dueAt, reason }: ProgressIn<'retrying'>, now: EpochMs): Hold {
  const words = `${hold.reason}; it is ${dueAt <= now ? 'due for' : 'waiting for'} a retry: ${reason}`;
  return { reason: words, until: hold.until };
}

/** Why nobody starts while the rollout does not run. */
function outageWords({ state, reason }: RolloutView['rollout']): string {
  switch (state) {
    case 'awaitingApproval':
      return 'the plan waits for approval';
    case 'held':
    case 'paused':
      return `the rollout is ${state}: ${reason}`;
    case 'rollingBack':
      return 'the rollout is rolled back';
    default:
      return `the rollout is over: ${reason}`;
  }
}

/** What stops everybody; any other hold may stand in the way of others only. */
const stoppingActions: ReadonlySet<Action['do']> = new Set(['hold', 'breach', 'isolate', 'setBrake']);

/** When the soak before it ends, where one is on its way: the only wait of a wave whose end is known. */
function soakEndOf(holds: readonly Hold[], { waves }: RolloutView['rollout']): EpochMs | null {
  const current = waves.find(({ state }) => state !== 'passed');
  if (current?.state !== 'soaking') return null;
  return holds.find(({ reason }) => reason === soakWords(current))?.until ?? null;
}

function mayStart(view: RolloutView, upgrade: Upgrade): boolean {
  return view.rollout.state === 'running' && heldStratumOf(view, upgrade) === undefined;
}

function heldStratumOf({ rollout }: RolloutView, upgrade: Upgrade) {
  return rollout.heldStrata.find(({ stratum }) => stratum === upgrade.identity.stratum);
}
