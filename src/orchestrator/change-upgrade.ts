import type { DurationMs } from '../base/time.ts';
import { evolve } from '../rollout/evolve.ts';
import type { UpgradeFact } from '../rollout/facts.ts';
import { tripAbove } from '../rollout/gate.ts';
import type { Rollout } from '../rollout/rollout.ts';
import { holdsSlot, type Upgrade } from '../rollout/upgrade.ts';
import type { ChangeRolloutParts } from './change-rollout.ts';
import { describeUpgradeChange } from './describe-change.ts';
import type { UpgradeChange } from './ports/rollout-store.ts';

export interface ChangeUpgradeParts {
  /** A create sent longer ago than this has been answered, or never will be. */
  readonly answerWithinMs: DurationMs;
  /** From 0 to 1; spreads retries. */
  readonly random: () => number;
}

// Rivals for one record are the job's own earlier run, the leader, and an operator.
const rivalsMax = 5;

/**
 * Stores what a fact makes of the record. When someone else changed it meanwhile, the fact is weighed anew, if it can
 * still be about this record: what a look showed before that change may be true no more, and is looked for again.
 */
export async function recordFact(
  parts: ChangeUpgradeParts & Pick<ChangeRolloutParts, 'store' | 'sink' | 'bell'>,
  rollout: Rollout,
  upgrade: Upgrade,
  fact: UpgradeFact,
): Promise<Upgrade> {
  let current = upgrade;
  for (let rival = 0; rival < rivalsMax; rival += 1) {
    const change = changeOf(parts, rollout, current, fact);
    if (change.after === current) return current;
    const result = await parts.store.saveUpgrade(change, tripAboveOf(rollout, current));
    if (result === 'saved') {
      for (const event of change.events) parts.sink.tell(event);
      if (holdsSlot(current.state) !== holdsSlot(change.after.state) || change.events.length > 0)
        parts.bell.ring();
      return change.after;
    }
    const fresh = await parts.store.loadUpgrade(rollout.id, upgrade.collectorId);
    if (fresh === undefined) return current;
    if (!isStillAbout(fact, upgrade, fresh)) return fresh;
    current = fresh;
  }
  return current;
}

function isStillAbout(fact: UpgradeFact, before: Upgrade, fresh: Upgrade): boolean {
  switch (fact.kind) {
    case 'collectorSeen':
    case 'taskSeen':
    case 'lookFailed':
    case 'stirred':
    case 'quiet':
      return false;
    case 'createFailed':
    case 'createNotSent':
    case 'versionRefused':
      // The answer to an earlier create says nothing about one that was sent since (P1).
      return !(before.state === 'starting' && fresh.state === 'starting' && fresh.sentAt !== before.sentAt);
    default:
      return true;
  }
}

/** What a fact makes of a record, with the events it brings; `after` is `before` when it changes nothing. */
export function changeOf(
  parts: ChangeUpgradeParts,
  rollout: Rollout,
  before: Upgrade,
  fact: UpgradeFact,
): UpgradeChange {
  const context = {
    policy: rollout.policy,
    answerWithinMs: parts.answerWithinMs,
    jitter: parts.random() * 2 - 1,
  };
  const after = evolve(before, fact, context);
  return { before, after, events: describeUpgradeChange(rollout, before, after, fact) };
}

/** The weighted failures beyond which this upgrade's wave trips; null when its wave is not known. */
function tripAboveOf(rollout: Rollout, upgrade: Upgrade): number | null {
  const wave = rollout.waves[upgrade.wave];
  const rule = rollout.policy.waves[upgrade.wave];
  return wave === undefined || rule === undefined ? null : tripAbove(wave, rule);
}
