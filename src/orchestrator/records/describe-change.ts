import { assertNever } from '../../base/assert.ts';
import { isCleared } from '../../rollout/decision/evolve-rollout.ts';
import type { RolloutFact } from '../../rollout/decision/rollout-facts.ts';
import { tiedText } from '../../rollout/messages/account-texts.ts';
import { differenceText } from '../../rollout/messages/config-texts.ts';
import {
  clearedText,
  eventReasonText,
  gateChangeText,
  inventoryTrustedText,
  releasedText,
} from '../../rollout/messages/event-texts.ts';
import { implausibleText } from '../../rollout/messages/stop-causes.ts';
import { heldText } from '../../rollout/messages/stratum-reasons.ts';
import { upgradeText } from '../../rollout/messages/upgrade-reasons.ts';
import type { RolloutEvent, RolloutEventName } from '../../rollout/model/events.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { isEnd, reasonOf, type Upgrade } from '../../rollout/model/upgrade.ts';
import { changesCalendar } from '../../rollout/reload/policy-difference.ts';
import type { UpgradeFact } from '../../rollout/upgrade/facts.ts';
import { classifyCreateFailure, classifyTaskMessage } from '../../rollout/upgrade/failure-classes.ts';

/** The events of one upgrade's change: one when its state changed, none for a step within a state. */
export function describeUpgradeChange(
  rollout: Rollout,
  before: Upgrade,
  after: Upgrade,
  fact: UpgradeFact,
): readonly RolloutEvent[] {
  if (before.progress.state === after.progress.state) return [];
  const ended = isEnd(after.progress.state);
  const waveName = rollout.waves[after.identity.wave]?.name;
  const taskId = taskIdOf(after) ?? taskIdOf(before);
  return [
    {
      at: fact.at,
      event: `upgrade.${after.progress.state}`,
      policy: rollout.policy.name,
      rollout: rollout.id,
      ...causeOf(after),
      by: fact.kind === 'retryAsked' && fact.reason.kind === 'retryAsked' ? fact.reason.by : 'daemon',
      ...(waveName === undefined ? {} : { wave: waveName }),
      collectorId: after.identity.collectorId,
      collectorName: after.identity.collectorName,
      ...(taskId === undefined ? {} : { taskId }),
      attempt: after.tally.attempts,
      ...(after.progress.state === 'succeeded' ? { fromBuild: after.identity.fromBuild } : {}),
      ...failureClassOf(rollout, before, fact),
      ...seenDelayOf(before, after, fact),
      ...(ended && after.tally.firstStartedAt !== null
        ? { durationMs: fact.at - after.tally.firstStartedAt }
        : {}),
    },
  ];
}

function causeOf(upgrade: Upgrade): Pick<RolloutEvent, 'reason' | 'reasonKind'> {
  if (upgrade.progress.state === 'queued') return { reason: upgrade.progress.refused?.detail ?? '' };
  const reason = reasonOf(upgrade);
  return { reason: upgradeText(upgrade), ...(reason === undefined ? {} : { reasonKind: reason.kind }) };
}

/** The class (DESIGN §4) of the failure that ended an attempt. */
function failureClassOf(rollout: Rollout, before: Upgrade, fact: UpgradeFact): { failureClass?: string } {
  if (fact.kind === 'createFailed') return { failureClass: classifyCreateFailure(fact.failure) };
  if (before.progress.state !== 'upgrading' || before.progress.ending?.kind !== 'failed') return {};
  const meaning = classifyTaskMessage(before.progress.ending.message, rollout.policy.messageRules);
  return { failureClass: meaning === 'permanent' ? 'permanent' : 'retry' };
}

function seenDelayOf(before: Upgrade, after: Upgrade, fact: UpgradeFact): { seenDelayMs?: number } {
  if (before.progress.state !== 'upgrading') return {};
  if (before.progress.ending?.kind === 'failed') return { seenDelayMs: before.progress.ending.seenDelayMs };
  const isSuccessSeen = fact.kind === 'taskSeen' && after.progress.state === 'verifying';
  // An unchanged inventory row shows that the restart at the end of a successful upgrade had not started.
  const lastSeenAt = Math.max(before.progress.polledAt, before.progress.unchangedAt ?? 0);
  return isSuccessSeen ? { seenDelayMs: fact.at - lastSeenAt } : {};
}

/** The event of a change of the rollout itself. */
export function describeRolloutChange(
  before: Rollout,
  after: Rollout,
  fact: RolloutFact,
  by: string,
): readonly RolloutEvent[] {
  const change = changeEventOf(before, after, fact);
  if (change === undefined) return [];
  const wave = 'wave' in fact ? before.waves[fact.wave]?.name : undefined;
  const reasonFields =
    'reason' in fact ? { reason: eventReasonText(fact.reason), ...kindOf(fact.reason) } : { reason: '' };
  return [
    {
      at: fact.at,
      policy: after.policy.name,
      rollout: after.id,
      by,
      ...reasonFields,
      ...change,
      ...(wave === undefined ? {} : { wave }),
    },
  ];
}

/** An event, with its own reason if that differs from the fact's. */
interface ChangeEvent extends Partial<Pick<RolloutEvent, 'reason' | 'reasonKind'>> {
  readonly event: RolloutEventName;
}

function kindOf(reason: { readonly kind: string } | undefined): Pick<RolloutEvent, 'reasonKind'> {
  return reason === undefined ? {} : { reasonKind: reason.kind };
}

/** Facts whose event always has the same name, and only their own reason; null: no event. */
const plainEvents = {
  approved: 'rollout.approved',
  waveAwaitsApproval: 'wave.awaitingApproval',
  waveApproved: 'wave.approved',
  waveOpened: 'wave.opened',
  soakBegun: 'wave.soaking',
  soakPolled: null,
  soakSkipped: 'wave.soakSkipped',
  wavePassed: 'wave.passed',
  holdEnded: 'rollout.resumed',
  resumed: 'rollout.resumed',
  acknowledgedLowered: null,
  groupEmpty: null,
  reopened: 'rollout.reopened',
  windowsLifted: 'rollout.windowsLifted',
  leftBehindForeseen: null,
  rollbackNamed: null,
  closed: null,
  brakeSet: null,
  brakeLifted: null,
} satisfies Partial<Record<RolloutFact['kind'], RolloutEventName | null>>;

type PlainFact = Extract<RolloutFact, { kind: keyof typeof plainEvents }>;

function isPlain(fact: RolloutFact): fact is PlainFact {
  return fact.kind in plainEvents;
}

function changeEventOf(before: Rollout, after: Rollout, fact: RolloutFact): ChangeEvent | undefined {
  if (isPlain(fact)) {
    const event = plainEvents[fact.kind];
    return event === null ? undefined : { event };
  }
  switch (fact.kind) {
    case 'gateAnswered':
      return gateEventOf(before, fact);
    case 'strataHeld':
      return { event: 'stratum.held', reason: heldText(fact.strata), ...kindOf(fact.strata[0]?.reason) };
    case 'groupHeld':
      return { event: 'stratum.held', reason: heldText([fact.held]), ...kindOf(fact.held.reason) };
    case 'groupMoved': {
      const cleared = before.strata.held.filter((held) => isCleared(held, fact.view));
      if (cleared.length === 0) return undefined;
      return { event: 'stratum.released', reason: clearedText(cleared, fact.label) };
    }
    case 'stratumReleased': {
      const { label, reason } = fact;
      return { event: 'stratum.released', reason: releasedText(label, reason), reasonKind: reason.kind };
    }
    case 'accountTied':
      return { event: 'rollout.tied', reason: tiedText(fact) };
    case 'policyChanged':
      return {
        event: 'rollout.policyChanged',
        reason: differenceText(fact.differences),
        reasonKind: changesCalendar(fact.differences) ? 'calendar' : 'limits',
      };
    case 'inventoryImplausible': {
      // Changed figures of the same problem are no new event.
      if (before.inventory.implausible !== null) return undefined;
      const { why } = fact.reading;
      return { event: 'inventory.implausible', reason: implausibleText(why), reasonKind: why.kind };
    }
    case 'inventoryTrusted':
      if (before.inventory.implausible === null) return undefined;
      return { event: 'inventory.trusted', reason: inventoryTrustedText };
    case 'held':
    case 'paused':
    case 'aborted':
    case 'superseded':
    case 'rollbackAsked':
    case 'rolledBack':
    case 'finished':
      return { event: `rollout.${after.state}` };
    default:
      return assertNever(fact);
  }
}

/** A gate is asked every minute. Only a changed verdict is an event. */
function gateEventOf(
  before: Rollout,
  { wave, gate, answers }: Extract<RolloutFact, { kind: 'gateAnswered' }>,
): ChangeEvent | undefined {
  const { verdict, detail } = answers;
  if (before.waves[wave]?.gates[gate]?.verdict === verdict) return undefined;
  const name = before.policy.waves[wave]?.gates[gate]?.name ?? '';
  return { event: 'gate.changed', reason: gateChangeText(name, verdict, detail), reasonKind: verdict };
}

function taskIdOf(upgrade: Upgrade): string | undefined {
  return 'taskId' in upgrade.progress ? (upgrade.progress.taskId ?? undefined) : undefined;
}
