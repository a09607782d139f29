import type { AuditEvent } from '../../../src/base/vocabulary.ts';
import {
  clearedText,
  eventReasonText,
  gateChangeText,
  inventoryTrustedText,
  joinedText,
  plannedText,
} from '../../../src/rollout/messages/event-texts.ts';
import { implausibleText } from '../../../src/rollout/messages/stop-causes.ts';
import { heldText } from '../../../src/rollout/messages/stratum-reasons.ts';
import { upgradeReasonText } from '../../../src/rollout/messages/upgrade-reasons.ts';
import type { RolloutEvent, RolloutEventName } from '../../../src/rollout/model/events.ts';
import type { RolloutReason } from '../../../src/rollout/model/rollout-reason.ts';
import type { UpgradeReason } from '../../../src/rollout/model/upgrade-reason.ts';

export interface EventDoc<Example> {
  readonly when: string;
  readonly example: Example;
}

type Example = Partial<Omit<RolloutEvent, 'event'>> & Pick<RolloutEvent, 'reason'>;

const ofUpgrade = (reason: UpgradeReason) => ({ reason: upgradeReasonText(reason), reasonKind: reason.kind });
const ofRollout = (reason: RolloutReason) => ({ reason: eventReasonText(reason), reasonKind: reason.kind });
const asked = (words: string) => ({ ...ofRollout({ kind: 'asked', by: 'ann', words }), by: 'ann' });

const web7 = { wave: 'canary', collectorId: 7, collectorName: 'web-7' };
const task = { ...web7, taskId: '0000000000A1B2C3', attempt: 1 };
const ended = { ...task, durationMs: 312_000 };
const timedOut: UpgradeReason = { kind: 'noEnd', withinMs: 2_100_000 };
const stratum = 'Linux / amd64 / 19.441-2';

/** What each event of a rollout means. null: no rollout reports it. */
export const rolloutEventDocs = {
  'rollout.planned': {
    when: 'A plan was frozen: by a scan, an operator, or as a rollback.',
    example: {
      reason: plannedText({ planned: 878, targetBuild: '19.536-4', planHash: '7f3a91c2', reason: '' }),
      by: 'schedule',
    },
  },
  'rollout.drifted': {
    when: 'The fleet was read again when the plan was approved, and the plan differs. It waits for approval again.',
    example: { reason: '2 joined (web-8, web-9)' },
  },
  'rollout.approved': {
    when: 'An operator approved the plan, and the rollout starts.',
    example: asked('CHG-4711'),
  },
  'rollout.awaitingApproval': null,
  'rollout.running': null,
  'rollout.joined': {
    when: 'Late joiners entered the plan.',
    example: { reason: joinedText(['web-8', 'web-9']) },
  },
  'rollout.policyChanged': {
    when: 'The rollout follows keys that a reload or restart changed.',
    example: { reason: 'concurrency 50 → 20' },
  },
  'rollout.windowsLifted': {
    when: 'An operator started a rollback with `--now`: it does not wait for windows and freezes.',
    example: asked('build drops messages'),
  },
  'rollout.tied': {
    when: 'The access id or the address of the service changed, and the rollout was found to belong to the same account.',
    example: {
      reason:
        'the account at https://api.example.com shows its collectors under another access id or address',
    },
  },
  'rollout.held': {
    when: 'The rollout stopped: too many failures, a gate, or another cause. It starts nothing until `resume`.',
    example: ofRollout({ kind: 'buildNotOffered', build: '19.536-4' }),
  },
  'rollout.paused': { when: 'An operator paused the rollout.', example: asked('network maintenance') },
  'rollout.resumed': {
    when: 'An operator resumed the rollout, or the cause of its hold is gone.',
    example: asked('disk was full, now fixed'),
  },
  'rollout.reopened': {
    when: 'An operator retried failed collectors of a rollout that had ended.',
    example: asked('disk was full, now fixed'),
  },
  'rollout.aborted': {
    when: 'The rollout was aborted, by an operator or by `onBreach: abort`.',
    example: asked('wrong build'),
  },
  'rollout.superseded': {
    when: 'A newer build is available, and the policy has `target.supersede: true`.',
    example: ofRollout({ kind: 'newerBuild', build: '19.540-2' }),
  },
  'rollout.rollingBack': {
    when: 'A rollback of this rollout started, by an operator or by `onBreach: rollback`.',
    example: asked('build drops messages'),
  },
  'rollout.rolledBack': {
    when: 'The rollback of this rollout has ended.',
    example: ofRollout({ kind: 'rollbackEnded', rollback: 'production-20261123-1', state: 'succeeded' }),
  },
  'rollout.succeeded': {
    when: 'Every collector of the plan has ended, without failures.',
    example: ofRollout({ kind: 'allEnded' }),
  },
  'rollout.finishedWithFailures': {
    when: 'Every collector of the plan has ended, and some failed.',
    example: ofRollout({ kind: 'allEnded' }),
  },
  'inventory.implausible': {
    when: 'The list of collectors cannot be right, for example after a lost role. Nothing starts meanwhile.',
    example: {
      reason: implausibleText({ kind: 'empty', expected: 878 }),
      reasonKind: 'empty',
    },
  },
  'inventory.trusted': {
    when: 'The list of collectors is plausible again.',
    example: { reason: inventoryTrustedText },
  },
  'wave.awaitingApproval': { when: 'The wave waits for an operator.', example: { wave: 'rest', reason: '' } },
  'wave.approved': {
    when: 'An operator approved the wave.',
    example: { wave: 'rest', ...asked('CHG-4711') },
  },
  'wave.opened': { when: 'Collectors of the wave may start.', example: { wave: 'canary', reason: '' } },
  'wave.soaking': {
    when: 'Every collector of the wave has ended, and its soak starts.',
    example: { wave: 'canary', reason: '' },
  },
  'wave.soakSkipped': {
    when: 'An operator ended the soak. The gates are still checked.',
    example: { wave: 'canary', ...asked('security update') },
  },
  'wave.passed': { when: 'The gate of the wave passed.', example: { wave: 'canary', reason: '' } },
  'gate.changed': {
    when: 'A probe has another verdict than before: pass, fail, hold, inconclusive or waiting. `reasonKind` is the verdict.',
    example: {
      wave: 'canary',
      reason: gateChangeText('ingest', 'fail', '0.97, expected >= 0.99, for 10m'),
      reasonKind: 'fail',
    },
  },
  'stratum.held': {
    when: 'A stratum, or a group that shares an attribute, is held alone. The other collectors continue.',
    example: {
      reason: heldText([
        {
          label: stratum,
          reason: { kind: 'outlier', failed: 3, tried: 4, elsewhere: { failed: 1, tried: 80 } },
        },
      ]),
      reasonKind: 'outlier',
    },
  },
  'stratum.released': {
    when: 'A held stratum continues: an operator released it, or its failures were those of a group that is held instead.',
    example: { reason: clearedText([{ label: stratum }], 'fields.rack=r7') },
  },
  'upgrade.queued': {
    when: 'The collector got a slot. Its create request is sent soon.',
    example: { ...web7, attempt: 0, reason: '' },
  },
  'upgrade.pending': {
    when: 'The collector gave its slot back before a create request was sent, or waits for its turn again.',
    example: { ...web7, attempt: 0, ...ofUpgrade({ kind: 'windowCloses' }) },
  },
  'upgrade.starting': {
    when: 'The create request is about to be sent. It is stored first, so that a crash cannot lead to a second one.',
    example: { ...web7, attempt: 1, reason: '' },
  },
  'upgrade.upgrading': {
    when: 'The service has an upgrade task for the collector.',
    example: { ...task, reason: '' },
  },
  'upgrade.verifying': {
    when: 'The task succeeded. The collector must now be seen alive on the new build.',
    example: { ...task, reason: '', seenDelayMs: 4_200 },
  },
  'upgrade.retrying': {
    when: 'An attempt failed, and the next one comes after a wait.',
    example: {
      ...task,
      ...ofUpgrade({ kind: 'task', message: 'download failed: connection reset by peer' }),
      failureClass: 'retry',
      seenDelayMs: 4_200,
    },
  },
  'upgrade.deferred': {
    when: 'The collector is offline or in another upgrade. upwave waits for it, for `defer.upTo` in total.',
    example: { ...web7, attempt: 0, ...ofUpgrade({ kind: 'notAlive' }), failureClass: 'defer' },
  },
  'upgrade.succeeded': {
    when: 'The collector was seen alive on the new build.',
    example: { ...ended, ...ofUpgrade({ kind: 'returned', late: false }), fromBuild: '19.441-2' },
  },
  'upgrade.failed': {
    when: 'The upgrade failed for good: a permanent cause, or all attempts were used up.',
    example: {
      ...ended,
      ...ofUpgrade({ kind: 'task', message: 'permission denied' }),
      failureClass: 'permanent',
      seenDelayMs: 4_200,
    },
  },
  'upgrade.timedOut': {
    when: 'The upgrade had no end within `upgrade.deadline`.',
    example: { ...ended, durationMs: 2_100_000, ...ofUpgrade(timedOut) },
  },
  'upgrade.unconfirmed': {
    when: 'The task ended, but the collector did not come back on the new build within `upgrade.verifyWithin`.',
    example: { ...ended, ...ofUpgrade({ kind: 'notBack', withinMs: 600_000 }) },
  },
  'upgrade.withdrawn': {
    when: 'The collector is not upgraded by this rollout: it is gone, was offline too long, or the rollout ended first.',
    example: {
      ...web7,
      attempt: 0,
      ...ofUpgrade({ kind: 'deferExpired', before: { kind: 'notAlive' }, forMs: 43_200_000 }),
    },
  },
  'upgrade.rolledBack': {
    when: 'A rollback returned the collector to its old build.',
    example: {
      ...ended,
      ...ofUpgrade({ kind: 'rolledBack', build: '19.441-2', rollback: 'production-20261123-1' }),
    },
  },
} satisfies Readonly<Record<RolloutEventName, EventDoc<Example> | null>>;

const rollout = 'production-20261122-1';

/** What each entry of the audit means. */
export const auditEventDocs = {
  'build.held': {
    when: 'A build was held: by an operator, or by the daemon after a failed first wave.',
    example: { subject: '19.536-4', reason: 'drops messages' },
  },
  'build.released': {
    when: 'An operator released a build.',
    example: { subject: '19.536-4', reason: 'fixed' },
  },
  'collector.held': {
    when: 'An operator held a collector.',
    example: { subject: '7 web-1', reason: 'disk replacement' },
  },
  'collector.released': {
    when: 'An operator released a collector.',
    example: { subject: '7 web-1', reason: '' },
  },
  'group.held': {
    when: 'An operator held a group of collectors, over all policies.',
    example: { subject: 'fields.rack=r7', reason: 'its switch is replaced' },
  },
  'group.released': {
    when: 'An operator released a group.',
    example: { subject: 'fields.rack=r7', reason: '' },
  },
  'stratum.held': {
    when: 'A stratum or a group was held: by an operator, or by the daemon for its failures.',
    example: { subject: `${stratum} of ${rollout}`, reason: 'an incident' },
  },
  'stratum.released': {
    when: 'An operator released a stratum or a group.',
    example: { subject: `${stratum} of ${rollout}`, reason: '' },
  },
  'record.lost': {
    when: 'Redis has lost data, so earlier entries may be missing.',
    example: { subject: 'Redis', reason: 'the data of Redis was lost', by: 'daemon' },
  },
  'config.reloaded': {
    when: 'The config was reloaded.',
    example: { subject: 'config', reason: 'production: concurrency 50 → 20' },
  },
  'rollout.started': {
    when: 'An operator started a rollout of a policy.',
    example: { subject: rollout, reason: 'CHG-4711' },
  },
  'rollout.held': {
    when: 'The daemon held a rollout.',
    example: { subject: rollout, reason: 'wave canary: 5 failures, 4 allowed', by: 'daemon' },
  },
  'rollout.paused': {
    when: 'A rollout was paused.',
    example: { subject: rollout, reason: 'network maintenance' },
  },
  'rollout.resumed': {
    when: 'A rollout was resumed.',
    example: { subject: rollout, reason: 'disk was full, now fixed' },
  },
  'rollout.approved': {
    when: 'A plan or a wave was approved, which the subject names.',
    example: { subject: `${rollout} wave rest`, reason: 'CHG-4711' },
  },
  'wave.soakSkipped': {
    when: 'The soak of a wave was ended.',
    example: { subject: `${rollout} wave canary`, reason: 'security update' },
  },
  'rollout.aborted': {
    when: 'A rollout was aborted, also by the daemon.',
    example: { subject: rollout, reason: 'wrong build' },
  },
  'rollout.rollingBack': {
    when: 'A rollback was started, also by the daemon.',
    example: { subject: rollout, reason: 'build drops messages' },
  },
  'rollout.retried': {
    when: 'Failed collectors were retried; the subject names which.',
    example: { subject: `${rollout} 3 failures`, reason: '' },
  },
} satisfies Readonly<
  Record<AuditEvent, EventDoc<{ readonly subject: string; readonly reason: string; readonly by?: string }>>
>;
