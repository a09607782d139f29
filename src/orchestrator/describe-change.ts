import type { RolloutEvent, RolloutEventName } from '../rollout/events.ts';
import type { RolloutFact } from '../rollout/evolve-rollout.ts';
import type { UpgradeFact } from '../rollout/facts.ts';
import { classifyCreateFailure, classifyTaskMessage } from '../rollout/failure-classes.ts';
import type { Rollout } from '../rollout/rollout.ts';
import { isEnd, type Upgrade } from '../rollout/upgrade.ts';

/** The events of one upgrade's change: one when its state changed, none for a step within a state. */
export function describeUpgradeChange(
  rollout: Rollout,
  before: Upgrade,
  after: Upgrade,
  fact: UpgradeFact,
): readonly RolloutEvent[] {
  if (before.state === after.state) return [];
  const ended = isEnd(after.state);
  const taskId = taskIdOf(after) ?? taskIdOf(before);
  const waveName = rollout.waves[after.wave]?.name;
  return [
    {
      at: fact.at,
      event: `upgrade.${after.state}`,
      policy: rollout.policy.name,
      rollout: rollout.id,
      reason: 'reason' in after ? (after.reason ?? '') : '',
      by: 'daemon',
      ...(waveName === undefined ? {} : { wave: waveName }),
      collectorId: after.collectorId,
      collectorName: after.collectorName,
      ...(taskId === undefined ? {} : { taskId }),
      attempt: after.attempts,
      ...failureClassOf(rollout, before, fact),
      ...seenDelayOf(before, after, fact),
      ...(ended && after.firstStartedAt !== null ? { durationMs: fact.at - after.firstStartedAt } : {}),
    },
  ];
}

/** What led away from a good end, in the classes of DESIGN §4. */
function failureClassOf(rollout: Rollout, before: Upgrade, fact: UpgradeFact): { failureClass?: string } {
  if (fact.kind === 'createFailed') return { failureClass: classifyCreateFailure(fact.failure) };
  if (before.state !== 'upgrading' || before.ending?.kind !== 'failed') return {};
  const meaning = classifyTaskMessage(before.ending.message, rollout.policy.messageRules);
  return { failureClass: meaning === 'permanent' ? 'permanent' : 'retry' };
}

function seenDelayOf(before: Upgrade, after: Upgrade, fact: UpgradeFact): { seenDelayMs?: number } {
  if (before.state !== 'upgrading') return {};
  if (before.ending?.kind === 'failed') return { seenDelayMs: before.ending.seenDelayMs };
  const isSuccessSeen = fact.kind === 'taskSeen' && after.state === 'verifying';
  return isSuccessSeen ? { seenDelayMs: fact.at - before.lookedAt } : {};
}

/** The event of a change of the rollout itself. */
export function describeRolloutChange(
  before: Rollout,
  after: Rollout,
  fact: RolloutFact,
  by: string,
): readonly RolloutEvent[] {
  const name = rolloutEventName(after, fact);
  if (name === undefined) return [];
  const wave = 'wave' in fact ? before.waves[fact.wave]?.name : undefined;
  return [
    {
      at: fact.at,
      event: name,
      policy: after.policy.name,
      rollout: after.id,
      reason: 'reason' in fact ? fact.reason : '',
      by,
      ...(wave === undefined ? {} : { wave }),
    },
  ];
}

function rolloutEventName(after: Rollout, fact: RolloutFact): RolloutEventName | undefined {
  switch (fact.kind) {
    case 'waveOpened':
      return 'wave.opened';
    case 'soakBegun':
      return 'wave.soaking';
    case 'wavePassed':
      return 'wave.passed';
    case 'resumed':
      return 'rollout.resumed';
    case 'held':
    case 'paused':
    case 'aborted':
    case 'finished':
      return `rollout.${after.state}`;
    default:
      return undefined;
  }
}

function taskIdOf(upgrade: Upgrade): string | undefined {
  return 'taskId' in upgrade ? (upgrade.taskId ?? undefined) : undefined;
}
