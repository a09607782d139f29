import type { DurationMs } from '../../base/time.ts';
import { withEitherSignal } from '../../base/waiting.ts';
import type { Configs } from '../configs/configs.ts';
import { findOrphans } from '../configs/find-orphans.ts';
import type { Accounts } from '../ports/accounts.ts';
import type { Fence, LeaderLease } from '../ports/leader.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';
import { type WatchParts, watchFleet } from '../watch/watch-fleet.ts';
import { type PackHistoryParts, packHistory } from './pack-history.ts';
import { type ReconcileParts, reconcile } from './reconcile.ts';

export interface LeadParts extends ReconcileParts, WatchParts {
  readonly buildHistory: PackHistoryParts['buildHistory'];
  /** Names of all policies of the config. */
  readonly policies: () => readonly string[];
  readonly lease: LeaderLease;
  /** Whether another running daemon should lead for a while. */
  readonly isWaitedFor: () => Promise<boolean>;
  /** Ends early at a wake-up: `sleep` returns as soon as this signal fires. */
  readonly nextWakeUp: () => AbortSignal;
}

// A pass without any change repairs what was lost.
const checkEveryMs: DurationMs = 1_000;

// The minimum between two passes: a leader that is always refused must not spin.
const passGapMs: DurationMs = 5;

// A due step has a job unless the job was lost. Asking BullMQ is cheap, but not free.
const overdueMs: DurationMs = 3_000;
const deliverEveryMs: DurationMs = 2_000;

// Leaders that serve different rollouts take turns. A waiting daemon tries to get the lease every second.
const turnMs: DurationMs = 10_000;
const giveWayMs: DurationMs = 2_500;

/**
 * The leader's loop: while this daemon has the lease, it reconciles every active rollout at a wake-up, at the rollout's
 * `wakeAt`, and every second. It ends when the signal is aborted, and then returns the lease.
 */
export async function lead(parts: LeadParts, signal: AbortSignal): Promise<void> {
  let leading = false;
  let deliveredAt = 0;
  let turnBeganAt = 0;
  while (!signal.aborted) {
    const woken = parts.nextWakeUp();
    // Redis is unavailable, so no daemon leads. The next pass tries again.
    const fence = await attempt(parts, () => parts.lease.hold(), undefined);
    if ((fence !== undefined) !== leading) {
      leading = fence !== undefined;
      parts.sink.note({ event: leading ? 'leader.acquired' : 'leader.lost' });
      // A new leader delivers at once the steps that its predecessor may not have delivered.
      deliveredAt = 0;
      turnBeganAt = parts.clock.now();
    }
    if (fence === undefined) {
      // Taking the lease counts as a wake-up.
      await withEitherSignal([woken, signal], (either) => parts.sleep(checkEveryMs / 2, either));
      continue;
    }
    const now = parts.clock.now();
    // In both directions, because a clock that is set back must not delay it.
    if (Math.abs(now - turnBeganAt) >= turnMs) {
      turnBeganAt = now;
      // Redis is unavailable, so no daemon can take the lease.
      if (await attempt(parts, () => parts.isWaitedFor(), false)) {
        await parts.lease.giveWay(giveWayMs);
        continue;
      }
    }
    const isFirst = deliveredAt === 0;
    const isDeliveryDue = Math.abs(now - deliveredAt) >= deliverEveryMs;
    if (isDeliveryDue) deliveredAt = now;
    await parts.backgroundTasks.run('pack', (stopping) => packHistory(parts, () => leading, stopping));
    const wakeAt = await reconcileAll(
      parts,
      fence,
      isFirst ? 0 : isDeliveryDue ? overdueMs : Number.POSITIVE_INFINITY,
      () => parts.backgroundTasks.run('watch', (stopping) => watchFleet(parts, () => leading, stopping)),
      signal,
    );
    const waitMs = Math.min(checkEveryMs, Math.max(passGapMs, wakeAt - parts.clock.now()));
    await withEitherSignal([woken, signal], (either) => parts.sleep(waitMs, either));
  }
  await attempt(parts, () => parts.lease.release(), undefined);
}

/** Returns the result of the work; reports an error and returns `otherwise` if it throws. @param rollout its id, or empty */
async function attempt<Result>(
  { sink }: LeadParts,
  work: () => Promise<Result>,
  otherwise: Result,
  rollout = '',
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    sink.note({ event: 'reconcile.failed', rollout, error });
    return otherwise;
  }
}

/** @returns the earliest `wakeAt` of all rollouts */
async function reconcileAll(
  parts: LeadParts,
  fence: Fence,
  overdue: DurationMs,
  beginWatch: () => Promise<void>,
  signal: AbortSignal,
): Promise<number> {
  let wakeAt = Number.POSITIVE_INFINITY;
  const reconcileActive = async () => {
    const active = await parts.store.activeRolloutIds(parts.policies());
    // Nobody else delivers lost steps of a rollout whose policy is gone, or closes it after an abort. It admits no more.
    const orphans = Number.isFinite(overdue) ? await findOrphans(parts) : [];
    for (const rolloutId of [...active, ...orphans.map(({ id }) => id)]) {
      const one = () => reconcile(parts, rolloutId, fence, overdue, signal);
      // The fault of one rollout must not stop the others.
      const wake = await attempt(parts, one, null, rolloutId);
      wakeAt = Math.min(wakeAt, wake ?? Number.POSITIVE_INFINITY);
    }
    // After the pass, so that newly admitted upgrades are watched at once.
    if (active.length > 0) await beginWatch();
  };
  await attempt(parts, reconcileActive, undefined);
  return wakeAt;
}

export interface GiveWayParts {
  readonly store: Pick<RolloutStore, 'activeRolloutIds'>;
  /** Names of all policies of the config. */
  readonly policies: () => readonly string[];
  readonly accounts: Pick<Accounts, 'foreign' | 'forgetEnded'>;
  readonly configs: Pick<Configs, 'living' | 'statuses'>;
  /** Why this daemon leaves rollouts of a newer upwave alone. */
  readonly newerRecords: () => readonly string[];
}

/**
 * Whether another running daemon should lead: one with a newer config, of another account, of a newer version, or with a policy
 * that this daemon's config lacks. All daemons share one lease, so such leaders take turns. The newest config needs none: it
 * keeps the lease, unless its daemon cannot lead.
 */
export async function isWaitedFor(parts: GiveWayParts): Promise<boolean> {
  const { store, policies, accounts, configs, newerRecords } = parts;
  const { account, others } = configs.living();
  if (newerRecords().length > 0 && others.length > 0) return true;
  if ([...configs.statuses().values()].some(({ kind }) => kind === 'outdated')) return true;
  await accounts.forgetEnded();
  if (accounts.foreign().length > 0 && others.some((each) => each.account !== account)) return true;
  const known = new Set(policies());
  const names = others.flatMap((each) => each.configs.map(({ policy }) => policy));
  const unknown = [...new Set(names)].filter((name) => !known.has(name));
  return unknown.length > 0 && (await store.activeRolloutIds(unknown)).length > 0;
}
