import type { DurationMs, EpochMs } from '../../base/time.ts';
import { brakeAbove } from '../../rollout/decision/assess.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { holdsSlot, type Upgrade } from '../../rollout/model/upgrade.ts';
import { evolve } from '../../rollout/upgrade/evolve.ts';
import type { UpgradeFact } from '../../rollout/upgrade/facts.ts';
import type { SaveGuard, UpgradeChange } from '../ports/rollout-store.ts';
import type { SaveParts } from './change-rollout.ts';
import { describeUpgradeChange } from './describe-change.ts';

export interface ChangeUpgradeParts {
  /** No answer or effect of a create comes later than this. */
  readonly answerWithinMs: DurationMs;
  /** From 0 to 1; spreads retries. */
  readonly random: () => number;
  /**
   * Observations before this instant do not count: after a fail-over or a truncated file, a record may show an upgrade as
   * it was before its create. It is in the future while such a create may still arrive.
   */
  readonly trustedSince: () => EpochMs;
}

/** What applies facts to upgrades, and saves them. */
export interface RecordParts extends ChangeUpgradeParts, SaveParts {}

/** A fact about one collector's upgrade, with the record on which it is based. */
export interface UpgradeFinding {
  readonly upgrade: Upgrade;
  readonly fact: UpgradeFact;
}

// One write of this many records blocks Redis for about 20 ms.
export const changesPerWrite = 500;

// Other writers of a record are the job's own earlier run, the leader, and an operator.
const conflictsMax = 5;

/** Applies a fact to one upgrade, as `recordFacts` does. @returns its present record */
export async function recordFact(
  parts: RecordParts,
  rollout: Rollout,
  upgrade: Upgrade,
  fact: UpgradeFact,
): Promise<Upgrade> {
  const [changed] = await recordFacts(parts, rollout, [{ upgrade, fact }], {});
  if (changed !== undefined) return changed;
  const { upgrades } = await parts.store.loadUpgrades(rollout.id, [upgrade.identity.collectorId]);
  return upgrades[0] ?? upgrade;
}

/**
 * Applies facts to many upgrades of a rollout, with one write for every few hundred of them. When another writer of a record
 * was faster, its fact is applied again, if it is still valid: the result of an earlier poll may be outdated, and the poll is
 * repeated. It ends early if the signal is aborted or the guard no longer holds. The caller finds the remaining ones again.
 * @returns the changed records
 */
export async function recordFacts(
  parts: RecordParts,
  rollout: Rollout,
  findings: readonly UpgradeFinding[],
  guard: SaveGuard,
  signal?: AbortSignal,
): Promise<readonly Upgrade[]> {
  const changed: Upgrade[] = [];
  for (let from = 0; from < findings.length && signal?.aborted !== true; from += changesPerWrite) {
    const saved = await recordSome(parts, rollout, findings.slice(from, from + changesPerWrite), guard);
    if (saved === 'refused') break;
    changed.push(...saved);
  }
  return changed;
}

async function recordSome(
  parts: RecordParts,
  rollout: Rollout,
  findings: readonly UpgradeFinding[],
  guard: SaveGuard,
): Promise<readonly Upgrade[] | 'refused'> {
  const done: UpgradeChange[] = [];
  let open = findings;
  for (let conflict = 0; conflict < conflictsMax && open.length > 0; conflict += 1) {
    const changes = open.flatMap(({ upgrade, fact }) => {
      const change = changeOf(parts, rollout, upgrade, fact);
      return change.after === upgrade ? [] : [{ ...change, brakeAbove: brakeAboveOf(rollout, upgrade) }];
    });
    if (changes.length === 0) break;
    const saved = new Set(await parts.store.saveUpgrades(rollout.id, changes, guard));
    done.push(...changes.filter(({ after }) => saved.has(after.identity.collectorId)));
    const stale = new Set(
      changes.map(({ after }) => after.identity.collectorId).filter((id) => !saved.has(id)),
    );
    if (stale.size === 0) break;
    const { upgrades } = await parts.store.loadUpgrades(rollout.id, [...stale]);
    const fresh = new Map(upgrades.map((upgrade) => [upgrade.identity.collectorId, upgrade]));
    open = open.flatMap(({ upgrade, fact }) => {
      const now = fresh.get(upgrade.identity.collectorId);
      return now === undefined || !isStillAbout(fact, upgrade, now) ? [] : [{ upgrade: now, fact }];
    });
    // No record has changed, and none was saved: the guard does not hold.
    const isAsItWas = ({ identity: { collectorId }, rev }: Upgrade) => fresh.get(collectorId)?.rev === rev;
    const isRefused = saved.size === 0 && changes.every(({ before }) => isAsItWas(before));
    if (isRefused && done.length === 0) return 'refused';
  }
  reportAll(parts, done);
  return done.map(({ after }) => after);
}

function reportAll({ sink, wakeUps }: RecordParts, changes: readonly UpgradeChange[]): void {
  for (const { events } of changes) for (const event of events) sink.report(event);
  const isWorthWaking = ({ before, after, events }: UpgradeChange) =>
    holdsSlot(before.progress.state) !== holdsSlot(after.progress.state) || events.length > 0;
  if (changes.some(isWorthWaking)) wakeUps.wake();
}

function isStillAbout(fact: UpgradeFact, before: Upgrade, fresh: Upgrade): boolean {
  switch (fact.kind) {
    case 'collectorSeen':
    case 'taskSeen':
    case 'pollFailed':
    case 'buildsSeen':
    case 'changeHinted':
    case 'unchanged':
      return false;
    case 'createFailed':
    case 'createNotSent':
      // The answer to an earlier create is not about a later one (P1).
      return !(
        before.progress.state === 'starting' &&
        fresh.progress.state === 'starting' &&
        fresh.progress.sentAt !== before.progress.sentAt
      );
    default:
      return true;
  }
}

/** The record before and after a fact, with the events; `after` is `before` when nothing changes. */
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

/** The weighted failures beyond which this upgrade's wave is braked; null when its wave is unknown. */
function brakeAboveOf(rollout: Rollout, upgrade: Upgrade): number | null {
  const wave = rollout.waves[upgrade.identity.wave];
  const rule = rollout.policy.waves[upgrade.identity.wave];
  return wave === undefined || rule === undefined ? null : brakeAbove(wave, rule);
}
