import { assertNever } from '../../base/assert.ts';
import { isSameBuild } from '../../base/build-version.ts';
import type { Clock, DurationMs, EpochMs } from '../../base/time.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { dueAtOf, type UpgradeIdentity } from '../../rollout/model/upgrade.ts';
import type { Reading } from '../../rollout/readings/reading-period.ts';
import {
  isTaskPollDue,
  verdictOnOffer,
  verdictOnRow,
  verdictOnUnlisted,
} from '../../rollout/upgrade/evolve.ts';
import type { InventoryRow, UpgradeFact } from '../../rollout/upgrade/facts.ts';
import { mayRestart } from '../../rollout/upgrade/heartbeats.ts';
import type { RowVerdict } from '../../rollout/upgrade/state-rules.ts';
import type { ListedCollector, ListedPage } from '../ports/fleet-service.ts';
import type { StepQueue } from '../ports/leader.ts';
import { type RecordParts, recordFacts, type UpgradeFinding } from '../records/change-upgrade.ts';
import type { HintCredit } from './hint-credit.ts';
import type { Observations } from './observations.ts';
import type { Watched, WatchedUpgrade } from './watched-upgrades.ts';

export interface PageParts extends RecordParts {
  readonly clock: Clock;
  readonly queue: StepQueue;
  readonly observations: Observations;
}

/** The context in which all pages of one reading are judged. */
export interface ReadingContext {
  readonly watched: Watched;
  readonly reading: Reading;
  readonly beganAt: EpochMs;
  /** When the previous reading began, if it would have shown an end, too; else null. */
  readonly readBeforeAt: EpochMs | null;
  /** The time until the next list. */
  readonly nextListMs: DurationMs;
  /** Whether another list is read in turn with the control list, so that each end is on one of them. */
  readonly isReadInTurn: boolean;
  /** Whether a row may make one more poll due. */
  readonly mayHint: () => boolean;
  /** Whether rows of upgradable lists are worth their polls. */
  readonly credit: Pick<HintCredit, 'mayFollow' | 'isOverdue'>;
  /** Whether a list shows the end of the upgrade's task, failed or not. */
  readonly isOfferRead: (upgrade: Pick<UpgradeIdentity, 'fromBuild' | 'toBuild'>) => boolean;
}

// Single polls resume after this many periods without a page.
const unchangedPeriods = 2;

// A list that is late by less than this share of its period still replaces the poll.
const lateListShare = 1 / 4;

// Where lists stop, polls resume after this share of the usual duration. An upgrade that the control list leaves out is
// stored only when its poll is due within it.
const resumeShare = 1 / 3;

/** Records what one page shows about upgrades that were running before its request. */
export async function recordPage(
  parts: PageParts,
  context: ReadingContext,
  { collectors, serviceAt }: ListedPage,
): Promise<void> {
  const { byCollector } = context.watched;
  const at = parts.clock.now();
  const findings = new Findings();
  // A row of an upgradable list may have fewer fields than one of the inventory, and must not replace it.
  const isWhole = (row: ListedCollector) =>
    context.reading.of === 'inventory' || row.lastSeenAlive !== undefined;
  const listedAt = context.reading.of === 'inventory' ? undefined : context.beganAt;
  parts.observations.note({ collectors: collectors.filter(isWhole), serviceAt }, at, listedAt);
  for (const { id, build, alive, lastSeenAlive } of collectors) {
    const row = { build, alive, lastSeenAlive: lastSeenAlive ?? null, serviceAt };
    for (const one of byCollector.get(id) ?? []) {
      const fact = factOf(context, one.rollout, {
        verdict: verdictOnListed(parts, context, one, row, at),
        row,
        at,
      });
      if (fact !== undefined) findings.add(one.rollout, { upgrade: one.upgrade, fact });
    }
  }
  await findings.write(parts);
}

/** Records what a complete reading of the control list shows about upgrades that it lacks. @param listed its collectors */
export async function recordUnlisted(
  parts: PageParts,
  context: Pick<ReadingContext, 'watched' | 'reading' | 'nextListMs' | 'isReadInTurn'>,
  listed: ReadonlySet<number>,
): Promise<void> {
  const { watched, reading, isReadInTurn } = context;
  const at = parts.clock.now();
  const { periodMs } = reading;
  const findings = new Findings();
  for (const [id, upgrades] of watched.byCollector) {
    if (listed.has(id)) continue;
    for (const { rollout, upgrade } of upgrades) {
      // A failed collector that stays on the control build is not listed either, unless by the list that is read in turn.
      const isLeftOut =
        reading.of !== 'control' ||
        (!isReadInTurn && isSameBuild(upgrade.identity.fromBuild, reading.toBuild));
      if (isLeftOut || verdictOnUnlisted(upgrade, { at, periodMs }) === 'none') continue;
      const until = at + resumeMs(context, rollout);
      findings.add(rollout, { upgrade, fact: { kind: 'unchanged', at, until } });
    }
  }
  await findings.write(parts);
}

/**
 * Leaves polls that would be due before the next list to that list, where it shows their result: a collector that returns, the
 * end of a task, or the heartbeat that a create waits for. The last of them has no deadline, and waits for one list only.
 */
export async function awaitList(
  parts: PageParts,
  {
    watched: { byCollector },
    isOfferRead,
    credit,
  }: Pick<ReadingContext, 'watched' | 'isOfferRead' | 'credit'>,
  next: { readonly dueAt: EpochMs; readonly periodMs: DurationMs },
): Promise<void> {
  const at = parts.clock.now();
  const until = Math.ceil(next.dueAt + next.periodMs * lateListShare);
  const isShown = (one: WatchedUpgrade): boolean => {
    const { identity, progress } = one.upgrade;
    if (progress.state === 'upgrading') return isOfferRead(identity) && !credit.isOverdue(one, next.dueAt);
    // Without the service's clock, a first poll is needed as a baseline for new heartbeats.
    return (
      progress.state === 'queued' || (progress.state === 'verifying' && progress.endedServiceAt !== null)
    );
  };
  const findings = new Findings();
  for (const one of [...byCollector.values()].flat()) {
    const dueAt = dueAtOf(one.upgrade) ?? 0;
    if (dueAt > at && dueAt < next.dueAt && isShown(one))
      findings.add(one.rollout, {
        upgrade: one.upgrade,
        fact: { kind: 'unchanged', at, until, isAwaited: true },
      });
  }
  await findings.write(parts);
}

/** Makes the polls of running tasks due, where no list is read that shows their ends. */
export async function pollTasks(
  parts: PageParts,
  { watched, reading: { periodMs } }: Pick<ReadingContext, 'watched' | 'reading'>,
): Promise<void> {
  const at = parts.clock.now();
  const findings = new Findings();
  for (const { rollout, upgrade } of [...watched.byCollector.values()].flat())
    if (isTaskPollDue(upgrade, { at, periodMs }))
      findings.add(rollout, { upgrade, fact: { kind: 'changeHinted', at } });
  await findings.write(parts);
}

function verdictOnListed(
  parts: PageParts,
  { reading, mayHint, isOfferRead, credit }: ReadingContext,
  one: WatchedUpgrade,
  row: InventoryRow,
  at: EpochMs,
): RowVerdict {
  const { rollout, upgrade } = one;
  const { toBuild } = upgrade.identity;
  if (reading.of === 'upgradable' && !isSameBuild(toBuild, reading.toBuild)) return 'none';
  // For a task, the presence of its collector on the list is enough. Everything else needs the row.
  if (reading.of !== 'inventory' && row.lastSeenAlive === null && upgrade.progress.state !== 'upgrading')
    return 'none';
  const trustedSince = parts.trustedSince();
  const rowContext = {
    ...{ at, trustedSince, periodMs: reading.periodMs },
    ...{ policy: rollout.policy, isOfferRead: isOfferRead(upgrade.identity) },
  };
  const verdict = (reading.of === 'inventory' ? verdictOnRow : verdictOnOffer)(upgrade, row, rowContext);
  const isOffer = reading.of !== 'inventory' && !isSameBuild(row.build, toBuild);
  const isFollowed = verdict !== 'changeHinted' || !isOffer || credit.mayFollow(one, at);
  const known = isFollowed ? verdict : verdictOnRow(upgrade, row, rowContext);
  if (known === 'unchanged' && credit.isOverdue(one, at)) return 'none';
  // A failure stops what it has to stop only when it is known, so its poll is never put off.
  return known !== 'changeHinted' || (isOffer && !mayRestart(row)) || mayHint() ? known : 'unchanged';
}

function factOf(
  context: Pick<ReadingContext, 'reading' | 'readBeforeAt' | 'nextListMs'>,
  rollout: Rollout,
  { verdict, row, at }: { readonly verdict: RowVerdict; readonly row: InventoryRow; readonly at: EpochMs },
): UpgradeFact | undefined {
  const { reading, readBeforeAt } = context;
  switch (verdict) {
    case 'collectorSeen':
      return { kind: 'collectorSeen', at, ...row, upgradable: null };
    case 'changeHinted':
      return { kind: 'changeHinted', at, ...(readBeforeAt !== null && { unchangedAt: readBeforeAt }) };
    case 'unchanged': {
      const forMs = Math.min(unchangedPeriods * reading.periodMs, resumeMs(context, rollout));
      return { kind: 'unchanged', at, until: at + forMs };
    }
    case 'none':
      return undefined;
    default:
      return assertNever(verdict);
  }
}

/** How long polls wait for lists that may have stopped. */
function resumeMs({ nextListMs }: Pick<ReadingContext, 'nextListMs'>, { policy }: Rollout): DurationMs {
  return Math.ceil(Math.max(nextListMs * (1 + lateListShare), policy.upgrade.expectMs * resumeShare));
}

/** Findings of a page, by rollout. */
class Findings {
  readonly #byRollout = new Map<string, { readonly rollout: Rollout; readonly rows: UpgradeFinding[] }>();

  add(rollout: Rollout, finding: UpgradeFinding): void {
    const found = this.#byRollout.get(rollout.id) ?? { rollout, rows: [] };
    found.rows.push(finding);
    this.#byRollout.set(rollout.id, found);
  }

  async write(parts: PageParts): Promise<void> {
    for (const { rollout, rows } of this.#byRollout.values()) await write(parts, rollout, rows);
  }
}

async function write(parts: PageParts, rollout: Rollout, rows: readonly UpgradeFinding[]): Promise<void> {
  const changed = await recordFacts(parts, rollout, rows, {});
  const later = new Set(
    rows.flatMap(({ upgrade, fact }) => (fact.kind === 'unchanged' ? [upgrade.identity.collectorId] : [])),
  );
  const sooner = changed.map(({ identity: { collectorId } }) => collectorId).filter((id) => !later.has(id));
  // Their jobs still wait for the earlier due instants. After a crash before this line, the steps become overdue, and the
  // reconciler brings them forward.
  if (sooner.length > 0) await parts.queue.bringForward(rollout.id, sooner);
}
