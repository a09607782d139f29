import type { EpochMs } from '../../base/time.ts';
import type { LeaderLease } from '../../orchestrator/ports/leader.ts';
import type { RedisConnection } from '../connection/connection.ts';
import { makeRedisLeaderLease } from '../coordination/leader-lease.ts';
import { markRestored } from '../coordination/store-instance.ts';
import { readRestoring, restoringKey, restoringWord } from '../schema/restoring.ts';
import { policyKeys } from '../schema/rollout-keys.ts';
import type { BackupPart } from './backup-lines.ts';
import { findKeptKeys, removeKeys } from './kept-keys.ts';
import { writeParts } from './write-parts.ts';

interface Target {
  readonly connection: RedisConnection;
  readonly keyPrefix: string;
}

interface Backup {
  /** Reads it from its beginning; it is read twice. */
  readonly readParts: () => AsyncIterable<BackupPart>;
  /** Whether it may replace something. */
  readonly replaces: boolean;
  readonly now: EpochMs;
}

export type RestoreResult =
  | { readonly kind: 'restored'; readonly keys: number; readonly rollouts: number }
  /** There is state already, and nobody said that it may go. `cutOffAt`: it is what a restore begun then left behind. */
  | { readonly kind: 'occupied'; readonly keys: number; readonly cutOffAt: string | null }
  /** A daemon works there. */
  | { readonly kind: 'led' }
  /** The lead was lost meanwhile. Nothing starts there until a restore has come to its end. */
  | { readonly kind: 'cutOff' };

/**
 * Puts a backup's state in the place of what is there; BullMQ's jobs are delivered anew by the daemons. Nobody leads
 * meanwhile. A daemon that starts, or takes a job, finds all policies busy and no rollout: what it would change or count
 * would be overwritten (P2, P9). Cut off in the middle, it stays so, and the restore is begun again with `replaces`.
 */
export async function restoreBackup(target: Target, backup: Backup): Promise<RestoreResult> {
  const { connection, keyPrefix } = target;
  const { commands } = connection;
  const lease = makeRedisLeaderLease({ commands, keyPrefix });
  try {
    const own = await lease.hold();
    if (own === undefined) return { kind: 'led' };
    const present = await findKeptKeys(connection, keyPrefix);
    if (present.length > 0 && !backup.replaces) {
      const cutOffAt = await readRestoring({ commands, keyPrefix });
      return { kind: 'occupied', keys: present.length, cutOffAt };
    }
    const policies = policiesOf([...present, ...(await readKeyNames(backup))]);
    await commands.set(restoringKey(keyPrefix), new Date(backup.now).toISOString());
    await makeBusy(target, policies);
    await removeState(target, policies);
    const written = await writeState(target, backup, lease);
    if (written === undefined) return { kind: 'cutOff' };
    // The next leader must be newer than any whose word stands in the records, or it would be refused.
    await commands.set(`${keyPrefix}:{leader}:epoch`, String(Math.max(own, written.fenceMax)));
    await markRestored(target);
    for (const policy of policies) await openPolicy(target, policy, written.heads.get(policy) ?? []);
    await commands.del(restoringKey(keyPrefix));
    const rollouts = [...written.keys].filter((key) => key.endsWith(':rollout')).length;
    return { kind: 'restored', keys: written.keys.size, rollouts };
  } finally {
    await lease.release();
  }
}

async function readKeyNames({ readParts }: Backup): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  for await (const { key } of readParts()) keys.add(key);
  return keys;
}

async function makeBusy({ connection, keyPrefix }: Target, policies: readonly string[]): Promise<void> {
  const keys = policies.flatMap((policy) => activeKeys(keyPrefix, policy));
  await Promise.all(keys.map((key) => connection.commands.set(key, restoringWord)));
}

/** Rollouts first: without them no script changes what belongs to them any more. */
async function removeState({ connection, keyPrefix }: Target, policies: readonly string[]): Promise<void> {
  const busy = new Set(policies.flatMap((policy) => activeKeys(keyPrefix, policy)));
  const keys = (await findKeptKeys(connection, keyPrefix)).filter((key) => !busy.has(key));
  const isRollout = (key: string) => key.endsWith(':rollout');
  await removeKeys(connection, keys.filter(isRollout));
  await removeKeys(
    connection,
    keys.filter((key) => !isRollout(key)),
  );
}

interface Written {
  readonly keys: ReadonlySet<string>;
  /** By policy: what makes its rollouts known, and is not written yet. */
  readonly heads: ReadonlyMap<string, readonly BackupPart[]>;
  readonly fenceMax: number;
}

/** @returns undefined when the lead was lost */
async function writeState(
  { connection }: Target,
  { readParts, now }: Backup,
  lease: LeaderLease,
): Promise<Written | undefined> {
  const keys = new Set<string>();
  const heads = new Map<string, BackupPart[]>();
  let fenceMax = 0;
  for await (const part of readParts()) {
    if (part.expiresAt !== null && part.expiresAt <= now) continue;
    if ((await lease.hold()) === undefined) return undefined;
    keys.add(part.key);
    const head = headOf(part.key);
    if (head === undefined) await writeParts(connection, [part]);
    else heads.set(head, [...(heads.get(head) ?? []), part]);
    if (part.key.endsWith('}:fence')) fenceMax = Math.max(fenceMax, Number(part.values[0]));
  }
  return (await lease.hold()) === undefined ? undefined : { keys, heads, fenceMax };
}

/** A policy's rollouts, its list of them and its active ones at one instant: before it, nobody can change any. */
async function openPolicy(
  { connection, keyPrefix }: Target,
  policy: string,
  heads: readonly BackupPart[],
): Promise<void> {
  const idle = activeKeys(keyPrefix, policy).filter((active) => !heads.some(({ key }) => key === active));
  await writeParts(connection, heads, idle);
}

function activeKeys(keyPrefix: string, policy: string): readonly string[] {
  const { upgrade, rollback } = policyKeys(keyPrefix, policy).active;
  return [upgrade, rollback];
}

const ofPolicy = /\{([^}]*)\}:(?:active|activeRollback|rollouts|fence|number:\d+|[^:]+:rollout)$/;

/** As they stand in hash tags, which is also a way to name them. */
function policiesOf(keys: readonly string[]): readonly string[] {
  return [...new Set(keys.flatMap((key) => ofPolicy.exec(key)?.[1] ?? []))];
}

const ofHead = /\{([^}]*)\}:(?:active|activeRollback|rollouts|[^:]+:rollout)$/;

/** The policy whose rollouts this key makes known; undefined for all other keys. */
function headOf(key: string): string | undefined {
  return ofHead.exec(key)?.[1];
}
