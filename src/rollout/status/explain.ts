import type { EpochMs } from '../../base/time.ts';
import { judgeLane } from '../decision/admission.ts';
import { assess, hasBegun } from '../decision/assess.ts';
import { type Blocker, stateBlocker } from '../decision/blocker.ts';
import { decideAssessed } from '../decision/decide.ts';
import type { Action } from '../decision/decision.ts';
import { awaitsDeferredAlone, deferredBlocker, waveWaits } from '../decision/wave-blockers.ts';
import { blockerWords } from '../messages/blockers.ts';
import { upgradeReasonWords, upgradeWords } from '../messages/upgrade-reasons.ts';
import type { RolloutView } from '../model/rollout.ts';
import type { ProgressIn, Upgrade } from '../model/upgrade.ts';
import { stateWords } from '../model/upgrade.ts';

/** Where a collector stands, and until when where that is known. */
export interface UpgradeExplanation {
  readonly reason: string;
  readonly until: EpochMs | null;
}

/**
 * Why one collector is where it is, and when that changes, from the very rules that the daemon acts on (DESIGN §3).
 * An end says how it ended; a collector on its way, what is looked at next.
 */
export function explainUpgrade(view: RolloutView, upgrade: Upgrade, now: EpochMs): UpgradeExplanation {
  switch (upgrade.progress.state) {
    case 'pending':
      return explainWaiting(view, upgrade, now);
    case 'retrying':
      return upgrade.progress.dueAt > now && mayStart(view, upgrade)
        ? { reason: `is tried again: ${upgradeWords(upgrade)}`, until: upgrade.progress.dueAt }
        : asRetry(explainWaiting(view, upgrade, now), upgrade.progress, now);
    case 'deferred':
      return {
        reason: `deferred: ${upgradeWords(upgrade)}; looked at again`,
        until: upgrade.progress.dueAt,
      };
    case 'queued':
      if (upgrade.progress.refused !== undefined)
        return {
          reason: `the service refused its upgrade, and the collector is polled for the cause: ${upgrade.progress.refused.detail}`,
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
      return { reason: `${stateWords(upgrade.progress.state)}: ${upgradeWords(upgrade)}`, until: null };
  }
}

/** The same of one whose record can't be read. */
export function explainUnreadable(collectorId: number): UpgradeExplanation {
  return explained({ kind: 'recordsUnreadable', collectorIds: [collectorId], until: null });
}

function explainWaiting(view: RolloutView, upgrade: Upgrade, now: EpochMs): UpgradeExplanation {
  return explained(...blockersOf(view, upgrade, now));
}

function explained(...blockers: readonly Blocker[]): UpgradeExplanation {
  return { reason: blockers.map(blockerWords).join('; '), until: blockers.at(-1)?.until ?? null };
}

/** What this collector waits for; evaluated in order, what stops everybody first. */
function blockersOf(given: RolloutView, upgrade: Upgrade, now: EpochMs): readonly Blocker[] {
  const view = assess(given);
  const { rollout, current } = view;
  const held = heldStratumOf(view, upgrade);
  if (held !== undefined)
    return [{ kind: 'stratumHeld', label: held.label, reason: held.reason, until: null }];
  if (rollout.state !== 'running') return [stateBlocker(rollout)];
  const { actions, blockers } = decideAssessed(view, now);
  const wave = view.assessed[upgrade.identity.wave];
  if (wave !== undefined && !hasBegun(wave.wave)) {
    // The soak of the wave before is the only wait of a wave whose end is known.
    const until = blockers.find(({ kind }) => kind === 'soak')?.until ?? null;
    const order = { kind: 'waveOrder', wave: wave.wave.name, waits: waveWaits(view, wave), until } as const;
    const isAwaited = current?.assessment.evidence === 'awaited' && awaitsDeferredAlone(view);
    return isAwaited ? [order, deferredBlocker(view, current)] : [order];
  }
  const [first] = blockers;
  const isStopped = view.braked || actions.some((action) => stopsAll[action.do]);
  if (isStopped && first !== undefined) return [first];
  const verdict = judgeLane(view, upgrade.identity.lane, now);
  if (verdict.kind === 'blocked') return [verdict.blocker];
  const { concurrency: slots } = rollout.policy;
  if (view.slotsTaken >= slots) return [{ kind: 'concurrency', slots, until: null }];
  return [{ kind: 'turn', until: null }];
}

/** A retry that waits for something else says all the same why it is one. */
function asRetry(
  explanation: UpgradeExplanation,
  { dueAt, reason }: ProgressIn<'retrying'>,
  now: EpochMs,
): UpgradeExplanation {
  const words = `${explanation.reason}; it is ${dueAt <= now ? 'due for' : 'waiting for'} a retry: ${upgradeReasonWords(reason)}`;
  return { reason: words, until: explanation.until };
}

/** What stops everybody; any other action leaves others a way. */
const stopsAll: Readonly<Record<Action['do'], boolean>> = {
  awaitApproval: false,
  openWave: false,
  beginSoak: false,
  checkSoak: false,
  askGate: false,
  passWave: false,
  hold: true,
  endHold: false,
  breach: true,
  isolate: true,
  lowerAcknowledged: false,
  checkInventory: false,
  setBrake: true,
  liftBrake: false,
  admit: false,
  deliver: false,
  withdrawWaiting: false,
  abandon: false,
  finish: false,
  beginRollback: false,
  endRollback: false,
  close: false,
};

function mayStart(view: RolloutView, upgrade: Upgrade): boolean {
  return view.rollout.state === 'running' && heldStratumOf(view, upgrade) === undefined;
}

function heldStratumOf({ rollout }: RolloutView, upgrade: Upgrade) {
  return rollout.heldStrata.find(({ stratum }) => stratum === upgrade.identity.stratum);
}
