import { isSameBuild } from '../../../src/base/build-version.ts';
import type { UpgradeChange } from '../../../src/orchestrator/ports/rollout-store.ts';
import { upgradeText } from '../../../src/rollout/messages/upgrade-reasons.ts';
import { isEnd } from '../../../src/rollout/model/upgrade.ts';
import type { Night } from '../night.ts';

// A look's answer may be on its way for so long, before what it showed is written down.
const lookAgeMs = 60_000;

/** Judges each change of a record: P9 (ends have reasons) and P10 (a success is on the build, and was up after its task). */
export function judgeUpgrade(
  { verdicts, serviceOf, scheduler, setup, staleMs }: Night,
  { before, after }: UpgradeChange,
): void {
  const who = `${after.identity.collectorId} of ${after.identity.rolloutId}`;
  if (isEnd(after.progress.state) && 'endedAt' in after.progress)
    verdicts.check(
      'P9',
      upgradeText(after).trim() !== '',
      `${who} ended ${after.progress.state} without a reason`,
    );
  verdicts.check('P9', after.rev === before.rev + 1, `${who} went from rev ${before.rev} to ${after.rev}`);
  const service = serviceOf(after.identity.rolloutId);
  const collector = service.collectors.get(after.identity.collectorId);
  if (
    after.progress.state !== 'succeeded' ||
    before.progress.state === 'succeeded' ||
    collector === undefined
  )
    return;
  const slackMs = lookAgeMs + staleMs;
  const now = scheduler.now();
  const shows =
    isSameBuild(collector.build, after.identity.toBuild) ||
    (isSameBuild(collector.buildBefore, after.identity.toBuild) && now - collector.buildSince <= slackMs);
  verdicts.check(
    'P10',
    shows,
    `${who} succeeded, but runs ${collector.build}, not ${after.identity.toBuild}`,
  );
  const heartbeatAt = service.lastHeartbeat(collector);
  const isBack =
    heartbeatAt > Math.min(collector.lastTaskEndedAt, collector.buildSince) - 1 ||
    collector.deletedAt !== null;
  verdicts.check('P10', isBack, `${who} succeeded, but was silent since its task ended`);
  // One that was back after its task, and died before anybody could be polled, has shown what it had to.
  const wasBack = setup.faults.pollsFail > 0 && isBack;
  const isUp = collector.downSince === null || now - collector.downSince <= slackMs || wasBack;
  verdicts.check('P10', isUp, `${who} succeeded, but is down for ${now - (collector.downSince ?? now)} ms`);
}
