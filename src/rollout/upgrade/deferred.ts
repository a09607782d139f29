import { isSameBuild } from '../../base/build-version.ts';
import type { Upgrade, UpgradeIn } from '../model/upgrade.ts';
import type { CollectorSeen } from './facts.ts';
import { afterPollFailed, unansweredForMs } from './failed-polls.ts';
import { describeFailure } from './failure-classes.ts';
import { isHeardAgain, restartSeenAt } from './heartbeats.ts';
import { nextDeferredPollAt } from './poll-schedule.ts';
import { ignoreFacts, type PollLimit, type StateRules } from './state-rules.ts';
import {
  deferExpired,
  type EvolveContext,
  endUpgrade,
  enterState,
  verifyLate,
  withdrawUpgrade,
} from './transitions.ts';

type Deferred = UpgradeIn<'deferred'>;

// Some services refuse a collector as not alive, or refuse its polls, but list it as alive. It is not retried with every page:
// again only after it has waited for as long as all times before.
const rowsAfterShare = 1 / 5;

const polls: PollLimit<'deferred'> = {
  isTimeUp: ({ progress }, at, { defer }) => at >= progress.since + defer.upToMs,
  unansweredForMs,
  giveUp: (upgrade, { at, failure }) => {
    const { reason: before } = upgrade.progress;
    return endUpgrade(upgrade, 'withdrawn', at, {
      kind: 'unpollable',
      detail: describeFailure(failure),
      before,
    });
  },
};

/** Waits without a slot until the collector is alive, or until someone else's upgrade of it has ended. */
export const deferred: StateRules<'deferred'> = {
  nextStep: ({ progress }) => ({
    do: 'pollCollector',
    why: 'deferred',
    askUpgradable: progress.condition === 'inUpgrade',
  }),
  polls,
  rows: {
    isWatched: () => false,
    verdictOnRow: ({ progress: { condition, since }, tally: { deferredMs = 0 } }, row, { at, policy }) => {
      const waitsMs = at - since - deferredMs;
      const isOldEnough = waitsMs >= Math.max(policy.upgrade.expectMs * rowsAfterShare, deferredMs);
      return condition === 'notAlive' && isOldEnough && isHeardAgain(row) ? 'collectorSeen' : 'none';
    },
  },
  on: {
    collectorSeen: afterCollectorSeen,
    pollFailed: (upgrade, fact, context) => afterPollFailed(upgrade, fact, context, polls),
    withdrawn: withdrawUpgrade,
    abandoned: withdrawUpgrade,
    ...ignoreFacts('admitted', 'putBack', 'claimed'),
    ...ignoreFacts('createSent', 'createNotSent', 'created', 'createFailed', 'buildsSeen'),
    ...ignoreFacts('taskSeen', 'changeHinted', 'unchanged'),
    ...ignoreFacts('departed', 'regressed', 'retryAsked', 'rejoined', 'rolledBack'),
  },
};

function afterCollectorSeen(upgrade: Deferred, seen: CollectorSeen, context: EvolveContext): Upgrade {
  const { at } = seen;
  const { progress } = upgrade;
  const { condition, since, reason } = progress;
  const { policy } = context;
  if (isSameBuild(seen.build, upgrade.identity.toBuild)) return verifyLate(upgrade, seen, context);
  if (condition === 'notAlive' ? isHeardAgain(seen) : seen.upgradable === true) {
    // The other upgrade may have ended just now. The collector shows the old build until it restarts (P1).
    const dueAt = condition === 'inUpgrade' ? restartSeenAt(at, 0, context) : at;
    return enterState(
      upgrade,
      { state: 'retrying', dueAt, reason: { kind: 'waited', before: reason } },
      { failedPolls: 0, deferredMs: at - since },
    );
  }
  const { upToMs } = policy.defer;
  if (at - since >= upToMs) return deferExpired(upgrade, { at, reason }, policy);
  const dueAt = Math.min(nextDeferredPollAt({ since, at }, policy), since + upToMs);
  return enterState(upgrade, { ...progress, dueAt }, { failedPolls: 0 });
}
