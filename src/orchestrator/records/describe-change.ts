import { assertNever } from '../../base/assert.ts';
import { cutText } from '../../base/safe-text.ts';
import type { EpochMs } from '../../base/time.ts';
import type { RolloutFact } from '../../rollout/decision/evolve-rollout.ts';
import { tiedWords } from '../../rollout/messages/accounts.ts';
import { implausibleWords } from '../../rollout/messages/inventory.ts';
import { rolloutReasonWords } from '../../rollout/messages/rollout-reasons.ts';
import { heldWords } from '../../rollout/messages/stratum-reasons.ts';
import { upgradeWords } from '../../rollout/messages/upgrade-reasons.ts';
import type { RolloutEvent, RolloutEventName } from '../../rollout/model/events.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import type { RolloutReason } from '../../rollout/model/rollout-reason.ts';
import { isEnd, type Upgrade } from '../../rollout/model/upgrade.ts';
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
  const taskId = taskIdOf(after) ?? taskIdOf(before);
  const waveName = rollout.waves[after.identity.wave]?.name;
  return [
    {
      at: fact.at,
      event: `upgrade.${after.progress.state}`,
      policy: rollout.policy.name,
      rollout: rollout.id,
      reason: causeOf(after),
      by: 'daemon',
      ...(waveName === undefined ? {} : { wave: waveName }),
      collectorId: after.identity.collectorId,
      collectorName: after.identity.collectorName,
      ...(taskId === undefined ? {} : { taskId }),
      attempt: after.tally.attempts,
      ...failureClassOf(rollout, before, fact),
      ...seenDelayOf(before, after, fact),
      ...(ended && after.tally.firstStartedAt !== null
        ? { durationMs: fact.at - after.tally.firstStartedAt }
        : {}),
    },
  ];
}

function causeOf(upgrade: Upgrade): string {
  return upgrade.progress.state === 'queued'
    ? (upgrade.progress.refused?.detail ?? '')
    : upgradeWords(upgrade);
}

/** The event of an upgrade that took the place of a corrupt record. */
export function describeRepairedUpgrade(
  rollout: Rollout,
  upgrade: Upgrade,
  { at, by, reason }: { readonly at: EpochMs; readonly by: string; readonly reason: string },
): RolloutEvent {
  const waveName = rollout.waves[upgrade.identity.wave]?.name;
  return {
    at,
    event: `upgrade.${upgrade.progress.state}`,
    policy: rollout.policy.name,
    rollout: rollout.id,
    reason,
    by,
    ...(waveName === undefined ? {} : { wave: waveName }),
    collectorId: upgrade.identity.collectorId,
    collectorName: upgrade.identity.collectorName,
  };
}

/** What led away from a good end, in the classes of DESIGN §4. */
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
  // A collector that the inventory showed unchanged had not begun the restart that ends a success.
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
  const told =
    before.unreadable?.kind === 'corrupt'
      ? tellLost(before.unreadable.text, after)
      : tellOf(before, after, fact);
  if (told === undefined) return [];
  const wave = 'wave' in fact ? before.waves[fact.wave]?.name : undefined;
  return [
    {
      at: fact.at,
      event: told.event,
      policy: after.policy.name,
      rollout: after.id,
      reason: told.reason ?? ('reason' in fact ? rolloutReasonWords(fact.reason) : ''),
      by,
      ...(wave === undefined ? {} : { wave }),
    },
  ];
}

interface Told {
  readonly event: RolloutEventName;
  readonly reason?: string;
}

// Of the old text: all of a usual one.
const textKeptMax = 4_000;

/** Whoever released it stands beside it. */
function releasedWords(label: string, reason: RolloutReason): string {
  const why = reason.kind === 'asked' ? reason.words : rolloutReasonWords(reason);
  return why === '' ? label : `${label}: ${why}`;
}

/** A record takes the place of one that can't be read: the bytes themselves are gone then. */
function tellLost(text: string, { state, reason }: Rollout): Told {
  return {
    event: `rollout.${state}`,
    reason: `${rolloutReasonWords(reason)}; it was: ${cutText(text, textKeptMax)}`,
  };
}

function tellOf(before: Rollout, after: Rollout, fact: RolloutFact): Told | undefined {
  switch (fact.kind) {
    case 'approved':
      return { event: 'rollout.approved' };
    case 'waveAwaitsApproval':
      return { event: 'wave.awaitingApproval' };
    case 'waveApproved':
      return { event: 'wave.approved' };
    case 'waveOpened':
      return { event: 'wave.opened' };
    case 'soakBegun':
      return { event: 'wave.soaking' };
    case 'soakSkipped':
      return { event: 'wave.soakSkipped' };
    case 'wavePassed':
      return { event: 'wave.passed' };
    case 'gateAnswered':
      return tellGate(before, fact);
    case 'strataHeld':
      return { event: 'stratum.held', reason: heldWords(fact.strata) };
    case 'stratumReleased':
      return { event: 'stratum.released', reason: releasedWords(fact.label, fact.reason) };
    case 'resumed':
    case 'holdEnded':
      return { event: 'rollout.resumed' };
    case 'reopened':
      return { event: 'rollout.reopened' };
    case 'accountTied':
      return { event: 'rollout.tied', reason: tiedWords(fact) };
    case 'policyChanged':
      return { event: 'rollout.policyChanged', reason: fact.words };
    case 'windowsLifted':
      return { event: 'rollout.windowsLifted' };
    case 'inventoryImplausible':
      // Other figures of the same trouble are no news.
      return before.doubt === undefined
        ? { event: 'inventory.doubted', reason: implausibleWords(fact.doubt.why) }
        : undefined;
    case 'inventoryTrusted':
      return before.doubt === undefined
        ? undefined
        : { event: 'inventory.trusted', reason: 'the inventory is plausible again' };
    case 'held':
    case 'paused':
    case 'aborted':
    case 'superseded':
    case 'rollbackAsked':
    case 'rolledBack':
    case 'finished':
      return { event: `rollout.${after.state}` };
    case 'soakPolled':
    case 'acknowledgedLowered':
    case 'leftBehindForeseen':
    case 'rollbackNamed':
    case 'closed':
    case 'brakeSet':
    case 'brakeLifted':
      return undefined;
    default:
      return assertNever(fact);
  }
}

/** A gate is asked every minute; only another verdict than before is news. */
function tellGate(before: Rollout, fact: Extract<RolloutFact, { kind: 'gateAnswered' }>): Told | undefined {
  const standing = before.waves[fact.wave]?.gates[fact.gate];
  if (standing?.verdict === fact.standing.verdict) return undefined;
  const name = before.policy.waves[fact.wave]?.gates[fact.gate]?.name ?? '';
  return { event: 'gate.changed', reason: `${name} ${fact.standing.verdict}: ${fact.standing.detail}` };
}

function taskIdOf(upgrade: Upgrade): string | undefined {
  return 'taskId' in upgrade.progress ? (upgrade.progress.taskId ?? undefined) : undefined;
}
