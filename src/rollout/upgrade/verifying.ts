import { isSameBuild } from '../../base/build-version.ts';
import type { ProgressIn, Upgrade, UpgradeIn } from '../model/upgrade.ts';
import type { CollectorSeen, InventoryRow } from './facts.ts';
import { afterPollFailed, unansweredForMs } from './failed-polls.ts';
import { describeFailure } from './failure-classes.ts';
import { nextVerifyPollAt, postponePoll } from './poll-schedule.ts';
import { ignoreFacts, type PollLimit, type StateRules } from './state-rules.ts';
import {
  abandonUpgrade,
  type EvolveContext,
  endUpgrade,
  enterState,
  failAsLost,
  failUpgrade,
} from './transitions.ts';

type Verifying = UpgradeIn<'verifying'>;

const polls: PollLimit<'verifying'> = {
  isTimeUp: ({ progress }, at) => at >= progress.verifyBy,
  unansweredForMs,
  // There is no evidence of a loss, so it counts as one failure.
  giveUp: (upgrade, { at, failure }, { policy }) => {
    const withinMs = policy.upgrade.verifyWithinMs;
    return failUpgrade(upgrade, 'unconfirmed', at, {
      kind: 'returnUnseen',
      withinMs,
      detail: describeFailure(failure),
    });
  },
};

/** The task has ended. The collector is polled until it shows the target with a new heartbeat (P10). */
export const verifying: StateRules<'verifying'> = {
  nextStep: () => ({ do: 'pollCollector', why: 'verify', askUpgradable: false }),
  polls,
  rows: {
    isWatched: () => true,
    verdictOnRow: (upgrade, row) => {
      if (isReturned(upgrade, row)) return 'collectorSeen';
      // Without the service's clock, a first poll is needed as a baseline for new heartbeats.
      const { endedServiceAt, baselineHeartbeatAt } = upgrade.progress;
      return endedServiceAt === null && baselineHeartbeatAt === null ? 'none' : 'unchanged';
    },
  },
  on: {
    collectorSeen: afterCollectorSeen,
    unchanged: (upgrade, { at, until, isAwaited }) => {
      const { awaitsList, ...progress } = upgrade.progress;
      if (isAwaited && awaitsList) return upgrade;
      const dueAt = postponePoll(progress.dueAt, at, Math.min(until, progress.verifyBy));
      return dueAt === progress.dueAt
        ? upgrade
        : enterState(upgrade, { ...progress, dueAt, ...(isAwaited && { awaitsList: true }) });
    },
    pollFailed: (upgrade, fact, context) => afterPollFailed(upgrade, fact, context, polls),
    abandoned: abandonUpgrade,
    ...ignoreFacts('admitted', 'putBack', 'claimed'),
    ...ignoreFacts('createSent', 'createNotSent', 'created', 'createFailed', 'buildsSeen'),
    ...ignoreFacts('taskSeen', 'changeHinted', 'withdrawn'),
    ...ignoreFacts('departed', 'regressed', 'retryAsked', 'rejoined', 'rolledBack'),
  },
};

function afterCollectorSeen(upgrade: Verifying, seen: CollectorSeen, { policy }: EvolveContext): Upgrade {
  const { at } = seen;
  const { awaitsList: _answered, ...progress } = upgrade.progress;
  if (isReturned(upgrade, seen)) {
    return endUpgrade(upgrade, 'succeeded', at, { kind: 'returned', late: progress.late });
  }
  const { verifyWithinMs } = policy.upgrade;
  const isTimeUp = at >= progress.verifyBy;
  if (isTimeUp && !isFirstToCompare(progress, seen)) {
    if (isHeartbeatNew(progress, seen) && seen.alive)
      return failUpgrade(upgrade, 'unconfirmed', at, {
        kind: 'otherBuild',
        build: seen.build,
        afterMs: verifyWithinMs,
      });
    return failAsLost(upgrade, { at, reason: { kind: 'notBack', withinMs: verifyWithinMs } }, policy);
  }
  // A late first poll is only a baseline, so the time to return starts with it.
  const verifyBy = isTimeUp ? at + verifyWithinMs : progress.verifyBy;
  const dueAt = nextVerifyPollAt({ verifyBy, at }, policy);
  const baselineHeartbeatAt = progress.baselineHeartbeatAt ?? seen.lastSeenAlive;
  return enterState(upgrade, { ...progress, verifyBy, dueAt, baselineHeartbeatAt }, { failedPolls: 0 });
}

/** Whether the collector has returned: alive, on the target, with a heartbeat newer than the task's end (P10). */
function isReturned({ identity, progress }: Verifying, seen: InventoryRow): boolean {
  return seen.alive && isSameBuild(seen.build, identity.toBuild) && isHeartbeatNew(progress, seen);
}

function isHeartbeatNew(
  { endedServiceAt, baselineHeartbeatAt }: ProgressIn<'verifying'>,
  { lastSeenAlive }: InventoryRow,
): boolean {
  if (lastSeenAlive === null) return false;
  if (endedServiceAt !== null && lastSeenAlive > endedServiceAt) return true;
  return baselineHeartbeatAt !== null && lastSeenAlive > baselineHeartbeatAt;
}

/** Whether this is the first heartbeat seen, if answers have no time: it is the baseline for a newer one. */
function isFirstToCompare(
  { endedServiceAt, baselineHeartbeatAt }: ProgressIn<'verifying'>,
  { alive, lastSeenAlive }: InventoryRow,
): boolean {
  return alive && lastSeenAlive !== null && endedServiceAt === null && baselineHeartbeatAt === null;
}
