import { isSameBuild } from '../../../src/base/build-version.ts';
import type { UpgradeChange } from '../../../src/orchestrator/ports/rollout-store.ts';
import { rolloutReasonText } from '../../../src/rollout/messages/rollout-reasons.ts';
import { upgradeText } from '../../../src/rollout/messages/upgrade-reasons.ts';
import type { Rollout } from '../../../src/rollout/model/rollout.ts';
import {
  isEnd,
  isFailed,
  isLost,
  isOnBuild,
  mayHaveBuild,
  reasonOf,
} from '../../../src/rollout/model/upgrade.ts';
import type { Night } from '../night.ts';
import { judgeSilence } from './judge-delivery.ts';
import type { SeenRollout } from './seen-rollouts.ts';

// A poll's answer may be on its way for so long, before what it showed is written down.
const pollAgeMs = 60_000;

/**
 * Judges what a record says of its collector against how that really is (P9, P14): who is there has not left, who is up
 * has not died, and what a person did is no failure of ours.
 */
export function judgeEnding(
  { verdicts, serviceOf, scheduler, staleMs, setup }: Night,
  { before, after }: UpgradeChange,
): void {
  if (before.progress.state === after.progress.state) return;
  const collector = serviceOf(after.identity.rolloutId).collectors.get(after.identity.collectorId);
  if (collector === undefined) return;
  const now = scheduler.now();
  const slackMs = pollAgeMs + staleMs;
  const reason = upgradeText(after);
  const kind = reasonOf(after)?.kind;
  const who = `${after.identity.collectorId} of ${after.identity.rolloutId}`;
  if (after.progress.state === 'withdrawn' && (kind === 'gone' || kind === 'departed'))
    verdicts.check('P14', collector.deletedAt !== null, `${who}, which exists, ended: ${reason}`);
  if (kind === 'wentSilent') judgeSilence(verdicts, collector, { who, now, slackMs });
  else if (isLost(after) && !isLost(before) && setup.faults.pollsRefused === 0) {
    const upForMs = collector.downSince === null ? now - collector.upSince : 0;
    // One that came back at the last moment may have been polled before that.
    const isUp = upForMs > slackMs && collector.deletedAt === null;
    verdicts.check('P14', !isUp, `${who}, up for ${upForMs} ms, is counted as dead: ${reason}`);
  }
  const { state } = after.progress;
  if (isFailed(state) && (before.progress.state === 'starting' || before.progress.state === 'queued')) {
    // One that the service refuses to show for all of its time is given up as that, whoever upgraded it.
    const isShown = setup.faults.pollsRefused === 0 || state !== 'timedOut';
    const hasTarget = isSameBuild(collector.build, after.identity.toBuild);
    // Of an upgrade in another account nothing can be known.
    const isPersons = isShown && collector.isBuildSomeoneElses && hasTarget && kind !== 'unwatched';
    verdicts.check('P9', !isPersons, `${who}, which a person upgraded, ${state}: ${reason}`);
  }
}

/** Judges a hold: a wave that may still show something is not held for having shown nothing (P14). */
export function judgeHold({ verdicts, scheduler }: Night, of: SeenRollout, before: Rollout): void {
  const { rollout } = of;
  if (rollout.state !== 'held' || before.state === 'held' || !lacksEvidence(rollout)) return;
  const wave = rollout.waves.findIndex(({ state }) => state !== 'passed');
  const { upToMs } = rollout.policy.defer;
  const waiting = [...of.upgrades.values()].find(
    (upgrade) =>
      upgrade.identity.wave === wave &&
      upgrade.progress.state === 'deferred' &&
      scheduler.now() - upgrade.progress.since < upToMs / 2,
  );
  verdicts.check(
    'P14',
    waiting === undefined,
    `${rollout.id} is held although ${waiting?.identity.collectorId} is only deferred: ${rolloutReasonText(rollout.reason)}`,
  );
}

/** Judges a night's rest: what was held until there is evidence goes on once there is (P14). */
export function judgeEvidence({ verdicts, seen }: Night): void {
  for (const { rollout, upgrades } of seen.all.values()) {
    if (rollout.state !== 'held' || !lacksEvidence(rollout)) continue;
    // Nothing goes on before the inventory is plausible, or an operator decides.
    if (rollout.inventory.implausible !== null) continue;
    const wave = rollout.waves.findIndex(({ state }) => state !== 'passed');
    const soaks = (rollout.policy.waves[wave]?.soakMs ?? 0) > 0;
    const held = new Set(rollout.strata.held.map(({ stratum }) => stratum));
    const shows = [...upgrades.values()].find(
      (upgrade) =>
        upgrade.identity.wave === wave &&
        (upgrade.progress.state === 'succeeded' ||
          (soaks && isOnBuild(upgrade)) ||
          (!isEnd(upgrade.progress.state) && !held.has(upgrade.identity.stratum))),
    );
    verdicts.check(
      'P14',
      shows === undefined,
      `${rollout.id} stays held although ${shows?.identity.collectorId} is ${shows?.progress.state}: ${rolloutReasonText(rollout.reason)}`,
    );
  }
}

function lacksEvidence({ hold }: Rollout): boolean {
  return hold?.heldFor?.kind === 'evidence';
}

/** Judges the end of a rollback: who could be taken back is, or is named (P14). */
export function judgeRolledBack(
  { verdicts, seen, serviceOf, scheduler, staleMs }: Night,
  of: SeenRollout,
  before: Rollout,
): void {
  const { rollout } = of;
  if (rollout.state !== 'rolledBack' || before.state === 'rolledBack') return;
  const rollback = seen.all.get(rollout.rollback.startedAs ?? '');
  const service = serviceOf(rollout.id);
  const offered = service.builds();
  const forgotten = [...of.upgrades.values()].filter(
    ({ identity: { collectorId, toBuild, fromBuild }, progress: { state } }) => {
      const collector = service.collectors.get(collectorId);
      if (collector === undefined || !isEnd(state) || !mayHaveBuild(state)) return false;
      const isOnIt =
        collector.deletedAt === null &&
        isSameBuild(collector.build, toBuild) &&
        !collector.isBuildSomeoneElses;
      const isSettled = scheduler.now() - collector.buildSince > pollAgeMs + staleMs;
      const isKnown = rollback?.upgrades.has(collectorId) === true;
      const isClaimed = [...seen.all.values()].some(
        (other) => other.rollout.policy.name !== rollout.policy.name && other.upgrades.has(collectorId),
      );
      const isOffered = offered.some(({ version }) => isSameBuild(version, fromBuild));
      return isOnIt && isSettled && !isKnown && !isClaimed && isOffered;
    },
  );
  // Builds come and go, and others claim collectors; but one that is there is never left behind as unknown.
  const named = rollout.rollback.leftBehind.reduce(
    (sum, { count, why }) => sum + (why.kind === 'unknown' ? 0 : count),
    0,
  );
  verdicts.check(
    'P14',
    forgotten.length <= named,
    `${rollout.id} is rolled back, and ${forgotten.map(({ identity: { collectorId } }) => collectorId).join(', ')} still run ${rollout.plan.targetBuild}; named are ${named}`,
  );
}
