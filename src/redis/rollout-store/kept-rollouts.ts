import { isDeepStrictEqual } from 'node:util';
import { keepLatest } from '../../base/keep-latest.ts';
import type { EpochMs } from '../../base/time.ts';
import type { RolloutsPage } from '../../orchestrator/ports/rollout-store.ts';
import type { Rollout, UnreadableRecord } from '../../rollout/model/rollout.ts';
import { isRolloutId, parseRolloutId } from '../../rollout/model/rollout-id.ts';
import { pairsOf } from '../connection/commands.ts';
import { decodeRollout, rolloutName, type StoredRollout } from '../schema/stored-rollout.ts';
import { packRecords } from './packed-records.ts';
import type { StoreContext } from './store-context.ts';
import { showUnreadable } from './unreadable-rollout.ts';

// A policy that starts a rollout every 15 minutes reaches this number in ten days.
export const rolloutsListedMax = 1_000;

/** Loads a rollout. If its record is unreadable, the result is built from its other records. */
export async function loadRollout(store: StoreContext, rolloutId: string): Promise<Rollout | undefined> {
  const key = store.ofRollout(rolloutId).keys.rollout;
  const [json, rev, v] = await store.commands.hmget(key, 'json', 'rev', 'v');
  if (typeof rev !== 'string') return undefined;
  return readRollout(store, rolloutId, { json: json ?? '', rev, v: v ?? null });
}

// Those that run, and the latest ones. Each step of an upgrade reads its rollout, which changes far more rarely.
const rolloutsDecodedMax = 8;

/** Decodes a rollout that was already read. */
export async function readRollout(
  store: StoreContext,
  rolloutId: string,
  stored: StoredRollout,
): Promise<Rollout | undefined> {
  const known = store.decoded.get(rolloutId);
  const isKnown = known !== undefined && isDeepStrictEqual(known.stored, stored);
  const rollout = isKnown
    ? known.rollout
    : store.broken.read(() => decodeRollout(stored, rolloutId, store.version));
  if (rollout !== undefined) {
    store.broken.forget(rolloutName(rolloutId));
    if (!isKnown) keepLatest(store.decoded, rolloutId, { stored, rollout }, rolloutsDecodedMax);
    return rollout;
  }
  return showUnreadable(store, rolloutId, problemOf(store, rolloutId, stored));
}

function problemOf(
  { version, ofRollout }: StoreContext,
  rolloutId: string,
  { json, v }: StoredRollout,
): UnreadableRecord {
  const written = Number(v);
  return written > version
    ? { kind: 'newer', version: written, readable: version }
    : { kind: 'corrupt', key: `${ofRollout(rolloutId).keys.rollout} json`, text: json };
}

// Two may be running, and a few of the others may have expired but still be listed.
const newestRead = 8;

/** The active rollouts of a policy, its last ended one, and those related to them by a rollback. */
export async function listCurrent(
  store: StoreContext,
  policy: string,
  active: Promise<readonly string[]>,
): Promise<readonly Rollout[]> {
  const { rollouts: key } = store.ofPolicy(policy);
  // In parallel, because a person or Prometheus waits for each round trip.
  const [activeIds, newest] = await Promise.all([active, store.commands.zrevrange(key, 0, newestRead - 1)]);
  const [latest, ...earlier] = newest.filter((id) => !activeIds.includes(id));
  const found = await Promise.all(
    [...activeIds, ...(latest === undefined ? [] : [latest])].map((id) => loadRollout(store, id)),
  );
  for (const id of earlier) {
    if (found.length > activeIds.length && found.at(-1) !== undefined) break;
    found.push(await loadRollout(store, id));
  }
  const current = new Map(found.flatMap((rollout) => (rollout === undefined ? [] : [[rollout.id, rollout]])));
  const related = [...current.values()].flatMap(({ rollback }) => [rollback.startedAs, rollback.original]);
  for (const id of related) {
    if (id === null || current.has(id)) continue;
    const rollout = await loadRollout(store, id);
    if (rollout !== undefined) current.set(id, rollout);
  }
  return [...current.values()];
}

// The most rollouts of a policy with the same millisecond: a rollout and its rollback, when clocks differ.
const tiesMax = 8;

/** A page over all these policies, newest first; undefined when `before` is not kept. */
export async function pageKept(
  store: StoreContext,
  policies: readonly string[],
  { before, limit }: RolloutsPage,
): Promise<{ readonly rollouts: readonly Rollout[]; readonly next: string | null } | undefined> {
  const { commands, ofPolicy } = store;
  const from = before === undefined ? undefined : await placeOf(store, before);
  if (before !== undefined && from === undefined) return undefined;
  const read = limit + 1 + tiesMax;
  const lists = await Promise.all(
    policies.map((policy) => {
      const { rollouts: key } = ofPolicy(policy);
      return commands.zrevrangebyscore(
        key,
        from?.createdAt ?? '+inf',
        '-inf',
        'WITHSCORES',
        'LIMIT',
        0,
        read,
      );
    }),
  );
  const places = lists
    .flatMap(pairsOf)
    .map(([id, score]): Place => ({ id, createdAt: Number(score) }))
    .filter((place) => from === undefined || newestFirst(from, place) < 0)
    .sort(newestFirst);
  const page = places.slice(0, limit);
  const rollouts = await Promise.all(page.map(({ id }) => loadRollout(store, id)));
  return {
    rollouts: rollouts.filter((rollout) => rollout !== undefined),
    next: places.length > limit ? (page.at(-1)?.id ?? null) : null,
  };
}

interface Place {
  readonly id: string;
  readonly createdAt: EpochMs;
}

/** Newest first; with the same instant, by id, so that pages neither skip nor repeat one. */
export function newestFirst(a: Place, b: Place): number {
  return b.createdAt - a.createdAt || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
}

async function placeOf({ commands, ofPolicy }: StoreContext, id: string): Promise<Place | undefined> {
  if (!isRolloutId(id)) return undefined;
  const score = await commands.zscore(ofPolicy(parseRolloutId(id).policy).rollouts, id);
  return score === null ? undefined : { id, createdAt: Number(score) };
}

/** Packs rollouts that ended before an instant and are not packed yet. */
export async function packEnded(
  store: StoreContext,
  policies: readonly string[],
  { endedBefore, signal }: { readonly endedBefore: EpochMs; readonly signal: AbortSignal },
): Promise<void> {
  for (const policy of policies) {
    const { toPack } = store.ofPolicy(policy);
    for (const id of await store.commands.zrangebyscore(toPack, '-inf', `(${endedBefore}`)) {
      if (signal.aborted) return;
      const rollout = await loadRollout(store, id);
      if (rollout?.unreadable !== undefined) continue;
      // An expired rollout has nothing to pack.
      const isPacked = await packRecords(store.commands, store.ofRollout(id).keys, signal);
      if (isPacked) await store.commands.zrem(toPack, id);
    }
  }
}

/** Removes expired rollouts from the policy's list, the oldest first. */
export async function forgetExpired(
  { commands, ofPolicy, ofRollout }: StoreContext,
  policy: string,
): Promise<void> {
  const { rollouts } = ofPolicy(policy);
  const old = await commands.zrange(rollouts, '0', String(rolloutsListedMax - 1));
  const kept = await Promise.all(old.map((id) => commands.exists(ofRollout(id).keys.rollout)));
  const gone = old.filter((_id, index) => kept[index] === 0);
  if (gone.length > 0) await commands.zrem(rollouts, ...gone);
}
