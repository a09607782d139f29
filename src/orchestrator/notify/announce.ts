import type { Clock, DurationMs, EpochMs } from '../../base/time.ts';
import type { Sleep } from '../../base/waiting.ts';
import type { ApiBudgetStatus } from '../../contract/admin/rollout-status.ts';
import type { Notice } from '../../rollout/model/notice.ts';
import type { Receiver } from '../../rollout/model/receiver.ts';
import type { Rollout, RolloutView } from '../../rollout/model/rollout.ts';
import { dueOfRollout } from '../../rollout/notices/due-notices.ts';
import { dueOfPolicy } from '../../rollout/notices/due-of-policy.ts';
import { receiversOf } from '../../rollout/notices/next-delivery.ts';
import type { CauseUpgrades } from '../../rollout/status/causes.ts';
import { describeRollout } from '../../rollout/status/status.ts';
import type { ReadApiBudgetStatus } from '../ports/api-budget.ts';
import type { EventSink } from '../ports/event-sink.ts';
import type { Announced, AnnouncedOf, NoticeQueue, Outbox } from '../ports/notifications.ts';
import { lastGoodScan, latestScan, type ScanBook } from '../ports/scan-book.ts';
import { loadCauses } from '../records/load-causes.ts';
import {
  loadRolloutSummary,
  type SharedAttributeParts,
  type ViewParts,
  withShownAttribute,
} from '../records/read-records.ts';

export interface AnnounceParts extends ViewParts, SharedAttributeParts {
  readonly scans: Pick<ScanBook, 'read'>;
  readonly outbox: Outbox;
  readonly queue: NoticeQueue;
  readonly receivers: () => readonly Receiver[];
  /** Names of the policies of the current config. */
  readonly policies: () => readonly string[];
  readonly readApiBudgetStatus: ReadApiBudgetStatus;
  /** Paths of the stored reports of a rollout. */
  readonly reportsOf: (rolloutId: string) => readonly string[];
  readonly clock: Clock;
  readonly sink: EventSink;
}

// A rollout that is no longer its policy's latest may be opened again, and end before the next pass. Such a rollback or retry mostly
// comes the next morning. Later ones are announced where they last longer than a pass.
const endsAgainWithinMs: DurationMs = 86_400_000;

/** By rollout: when it was judged last, and its rev then. */
type JudgedRollouts = Map<string, { readonly rev: number; readonly at: EpochMs }>;

// What a record does not show is judged this often: another account, an outage, a rollout without progress.
const judgeEveryMs: DurationMs = 10_000;

/**
 * Announces what is due, exactly once, even if several daemons try; a message may still be sent twice. Level-triggered: the
 * next pass announces what a crash or an outage of Redis prevented.
 * @param judged of earlier passes: a rollout without a change since then is not judged again each time
 */
export async function announceDue(parts: AnnounceParts, judged: JudgedRollouts = new Map()): Promise<void> {
  const { outbox, clock, store } = parts;
  const now = clock.now();
  const policies = parts.policies();
  // Read before the rollouts: a write with this mark never covers less than an earlier one.
  const announcedBefore = await outbox.readAnnounced(now);
  const [api, scans, current] = await Promise.all([
    parts.readApiBudgetStatus(),
    parts.scans.read(),
    store.currentRollouts(policies),
  ]);
  const running = new Set(current.flatMap(({ policy, endedAt }) => (endedAt === null ? [policy.name] : [])));
  for (const policy of policies) {
    const entries = scans.filter((entry) => entry.policy === policy);
    const last = latestScan(entries);
    const overdueAt = lastGoodScan(entries)?.overdueAt ?? null;
    const failure = last?.outcome === 'failed' ? { reason: last.reason } : null;
    const before = announcedBefore.policies.get(policy);
    const needs = running.has(policy) ? undefined : last?.needs;
    const { notices, announced } = dueOfPolicy(before?.announced, { policy, failure, needs, overdueAt }, now);
    await write(parts, { policy, announced }, before, notices);
  }
  const known = new Set(current.map(({ id }) => id));
  const open = [...announcedBefore.rollouts].filter(
    ([id, { announced }]) =>
      !known.has(id) && (announced.endedAt === null || now - announced.endedAt < endsAgainWithinMs),
  );
  const gone = await Promise.all(open.map(([id]) => store.loadRollout(id)));
  // Oldest first: the end of one comes before the start of the next.
  const rollouts = [...current, ...gone.filter((rollout) => rollout !== undefined)].sort(
    (one, other) => one.createdAt - other.createdAt,
  );
  for (const rollout of rollouts) {
    const { id, rev } = rollout;
    const last = announcedBefore.rollouts.has(id) ? judged.get(id) : undefined;
    // In both directions, because a clock that is set back must not delay it.
    if (last?.rev === rev && Math.abs(now - last.at) < judgeEveryMs) continue;
    judged.delete(id);
    if (await announceRollout(parts, rollout, announcedBefore, api)) judged.set(id, { rev, at: now });
  }
  for (const id of judged.keys()) if (rollouts.every((rollout) => rollout.id !== id)) judged.delete(id);
  await outbox.forget([
    ...open.flatMap(([id], index) => (gone[index] === undefined ? [id] : [])),
    ...endedLongAgo(announcedBefore, known, now),
  ]);
}

// `retry` and `rollback` open a rollout again only while its failures still matter.
const rememberedMs: DurationMs = 90 * 86_400_000;

function endedLongAgo({ rollouts }: Announced, known: ReadonlySet<string>, now: EpochMs): readonly string[] {
  return [...rollouts].flatMap(
    ([
      id,
      {
        announced: { endedAt },
      },
    ]) => (endedAt !== null && now - endedAt > rememberedMs && !known.has(id) ? [id] : []),
  );
}

// Added to the maximum duration of an upgrade: a few polls, and a hand-over to another daemon.
const graceMarginMs: DurationMs = 15 * 60_000;

/** @returns false if another daemon has announced something of it meanwhile */
async function announceRollout(
  parts: AnnounceParts,
  rollout: Rollout,
  { since, rollouts }: Announced,
  api: ApiBudgetStatus,
): Promise<boolean> {
  const { id, endedAt, policy } = rollout;
  const before = rollouts.get(id);
  if (endedAt !== null && before?.announced.endedAt === endedAt) return true;
  const now = parts.clock.now();
  const view = await loadRolloutSummary(parts, id, now);
  if (view === undefined) return false;
  const gracePeriodMs = policy.upgrade.deadlineMs + policy.upgrade.verifyWithinMs + graceMarginMs;
  const at = { now, since, gracePeriodMs, reports: parts.reportsOf(id) };
  const due = (seen: RolloutView, causes: CauseUpgrades) =>
    dueOfRollout(before?.announced, describeRollout(seen, now, api, causes), at);
  const quick = due(view, {});
  // Causes are read only for messages that are announced now.
  if (quick.notices.length === 0)
    return write(parts, { rollout: id, announced: quick.announced }, before, quick.notices);
  const causes = await loadCauses(parts, view);
  const { notices, announced } = due(await withShownAttribute(parts, view, causes), causes);
  return write(parts, { rollout: id, announced }, before, notices);
}

/** @returns false if another daemon has written meanwhile */
async function write(
  { outbox, queue, receivers, sink }: AnnounceParts,
  announcement: AnnouncedOf,
  before: { readonly announced: unknown; readonly mark: string } | undefined,
  notices: readonly Notice[],
): Promise<boolean> {
  if (notices.length === 0 && JSON.stringify(before?.announced) === JSON.stringify(announcement.announced))
    return true;
  const messages = notices.flatMap((notice) =>
    receiversOf(notice, receivers()).map(({ name }) => ({ receiver: name, notice })),
  );
  const result = await outbox.write(announcement, before?.mark ?? null, messages);
  if (result === 'stale') return false;
  if (result.pushedOut > 0) sink.note({ event: 'notification.pushedOut', messages: result.pushedOut });
  await queue.wake([...new Set(messages.map(({ receiver }) => receiver))]);
  return true;
}

// Between two checks whether all messages were sent.
const drainPollMs: DurationMs = 100;

/** Announces what is due, and waits until all is sent, or only failing or resting receivers remain. */
export async function announceAndDrain(
  parts: AnnounceParts & { readonly sleep: Sleep },
  withinMs: DurationMs,
  signal: AbortSignal,
): Promise<void> {
  const { outbox, receivers, clock } = parts;
  await announceDue(parts);
  const giveUpAt = clock.now() + withinMs;
  while (!signal.aborted && clock.now() < giveUpAt) {
    const [waited, failures] = [await outbox.receivers(), await outbox.readFailures()];
    if (!receivers().some(({ name }) => waited.has(name) && !failures.has(name))) return;
    await parts.sleep(drainPollMs, signal);
  }
}

const announceEveryMs: DurationMs = 2_000;

// The maximum delay of messages whose job was lost.
const wakeEveryMs: DurationMs = 10_000;

/** Announces while this daemon leads, until the signal is aborted. */
export async function keepAnnouncing(
  parts: AnnounceParts & { readonly isLeading: () => boolean; readonly sleep: Sleep },
  signal: AbortSignal,
): Promise<void> {
  const { outbox, queue, receivers, sink, clock } = parts;
  const judged: JudgedRollouts = new Map();
  let wokenAt = 0;
  while (!signal.aborted) {
    try {
      if (parts.isLeading()) {
        await announceDue(parts, judged);
        if (Math.abs(clock.now() - wokenAt) >= wakeEveryMs) {
          wokenAt = clock.now();
          const waited = await outbox.receivers();
          await queue.wake(receivers().flatMap(({ name }) => (waited.has(name) ? [name] : [])));
        }
      }
    } catch (error) {
      // Redis is unavailable or refuses: the next pass announces the rest.
      if (!signal.aborted)
        sink.note({ event: 'backgroundTask.failed', backgroundTask: 'notifications', error });
    }
    await parts.sleep(announceEveryMs, signal);
  }
}
