import type { DurationMs } from '../../base/time.ts';
import type { Fence } from '../../orchestrator/ports/leader.ts';
import type { RolloutStore, UpgradeChange } from '../../orchestrator/ports/rollout-store.ts';
import { type CapDomain, noGroups } from '../../rollout/model/plan-groups.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import type { Candidate, StoredView } from '../../rollout/model/rollout.ts';
import { dueAtOf } from '../../rollout/model/upgrade.ts';
import { makeWriteMarks, rangeBound } from '../connection/commands.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { runScript } from '../connection/script.ts';
import { recordVersion } from '../schema/record-version.ts';
import {
  defaultHistoryMs,
  isRolloutId,
  parseRolloutId,
  policyKeys,
  rolloutKeys,
} from '../schema/rollout-keys.ts';
import { decodeEvent, decodeGroups, rolloutFields, type WriteMark } from '../schema/stored-rollout.ts';
import { upgradeName } from '../schema/stored-upgrade.ts';
import { type BrokenRecords, makeBrokenRecords } from '../schema/unreadable-records.ts';
import { freezePlan, replacePlan } from './freeze-plan.ts';
import { makeGroupsCache } from './groups-cache.ts';
import { joinPlan } from './join-plan.ts';
import {
  forgetExpired,
  listCurrent,
  listKept,
  loadRollout,
  newestFirst,
  packEnded,
  pageKept,
  readRollout,
  rolloutsListedMax,
} from './kept-rollouts.ts';
import { listMissed, listUpgrades, loadUpgrades, readUpgrades } from './list-upgrades.ts';
import { unpackRecords } from './packed-records.ts';
import { listCorrupt, repairUpgrades } from './repair-upgrades.ts';
import { countFreshIntentsScript, saveRolloutScript, viewScript, writeUpgradesScript } from './scripts.ts';
import { encodeChange, encodeEvents } from './upgrade-index.ts';
import { decodeView, viewBounds } from './view.ts';

/** A rollout store in Redis: each change is one Lua script, and all keys of a policy share a hash tag. */
export function makeRedisRolloutStore(redis: {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
  /** How long an ended rollout is kept. */
  readonly historyMs?: DurationMs;
  /** Who is told of what can't be read. */
  readonly broken?: BrokenRecords;
  /** In which records are written, and the newest that can be read; another one for tests of two versions. */
  readonly version?: number;
  /** Of the config: how long what runs may take, of a rollout whose own record can't be read. */
  readonly policies?: readonly Policy[];
}): RolloutStore {
  const { commands, keyPrefix, historyMs = defaultHistoryMs, version = recordVersion } = redis;
  const broken = redis.broken ?? makeBrokenRecords(() => undefined);
  const kept = { commands, keyPrefix, broken, version, policies: redis.policies ?? [] };
  const nextWrite = makeWriteMarks();
  const nextMark = (): WriteMark => ({ write: nextWrite(), version });
  const knownGroups = makeGroupsCache();
  const ofPolicy = (policy: string) => policyKeys(keyPrefix, policy);
  const ofRollout = (id: string) => ({ id, keys: rolloutKeys(keyPrefix, id), version });
  const readable = (id: string) => ({ ...ofRollout(id), broken });
  /** One that can't be read would take the turn of those behind it, again and again. */
  const withoutCorrupt = async (view: StoredView): Promise<StoredView> => {
    const { id } = view.rollout;
    const canBeRead = ({ collectorId }: Candidate) => !broken.isKnown(upgradeName(id, collectorId));
    const corruptUpgrades = await listCorrupt(commands, readable(id));
    return {
      ...view,
      ...(corruptUpgrades.length === 0 ? {} : { corruptUpgrades }),
      candidates: view.candidates.map(({ lane, retries, pending }) => ({
        lane,
        retries: retries.filter(canBeRead),
        pending: pending.filter(canBeRead),
      })),
    };
  };

  const activeRolloutIds = async (policies: readonly string[]): Promise<readonly string[]> => {
    const ids = await Promise.all(
      policies.map((policy) => {
        const { active } = ofPolicy(policy);
        return commands.mget(active.upgrade, active.rollback);
      }),
    );
    return ids.flat().filter((id) => id !== null);
  };

  return {
    activeRolloutIds,

    findUpgradesOf: async (policies, collectorId) => {
      const ids = await activeRolloutIds(policies);
      // Side by side: two round trips, however many policies there are.
      const found = await Promise.all(
        ids.map(async (rolloutId) => {
          const loaded = await loadUpgrades(commands, readable(rolloutId), [collectorId]);
          const isThere = loaded.upgrades.length + loaded.unreadable.length > 0;
          return isThere ? [{ rolloutId, upgrade: loaded.upgrades[0] }] : [];
        }),
      );
      return found.flat();
    },

    currentRollouts: async (policies) => {
      const lists = await Promise.all(
        policies.map(async (policy) => listCurrent(kept, policy, await activeRolloutIds([policy]))),
      );
      return lists.flat().sort(newestFirst);
    },

    pageRollouts: (policies, page) => pageKept(kept, policies, page),

    listRollouts: async (policies) => {
      const lists = await Promise.all(policies.map((policy) => listKept(kept, policy)));
      return lists.flat().sort(newestFirst).slice(0, rolloutsListedMax);
    },

    loadRollout: async (rolloutId) => (isRolloutId(rolloutId) ? loadRollout(kept, rolloutId) : undefined),

    nextRolloutNumber: async (policy, yyyymmdd) =>
      Number((await commands.get(ofPolicy(policy).number(yyyymmdd))) ?? 0) + 1,

    freeze: async (frozen) => {
      await forgetExpired(redis, parseRolloutId(frozen.rollout.id).policy);
      return freezePlan(redis, frozen, nextMark());
    },

    replan: (frozen, expectedRev) => replacePlan(redis, frozen, { expectedRev, mark: nextMark() }),

    join: (joining, expectedRev, fence) => joinPlan(redis, joining, { expectedRev, fence, mark: nextMark() }),

    rejoin: async (rolloutId, changes, rolloutRev) =>
      savedOf(changes, await write(rolloutId, { mode: 'rejoin', rolloutRev }, changes)),

    loadGroups: async (rolloutId) => {
      const text = await commands.get(ofRollout(rolloutId).keys.groups);
      return text === null ? undefined : broken.read(() => decodeGroups(text, rolloutId));
    },

    loadView: async (rolloutId, at) => {
      if (!isRolloutId(rolloutId)) return undefined;
      const known = knownGroups.get(rolloutId);
      const { now, overdueBefore, pageSize } = at;
      const reply = await runScript(commands, viewScript, {
        keys: rolloutKeys(keyPrefix, rolloutId),
        args: { now, overdueBefore, pageSize, knownMark: known?.mark ?? '', ...viewBounds },
      });
      if (reply === null) return undefined;
      const rollout = await readRollout(kept, rolloutId, reply.stored);
      if (rollout === undefined) return undefined;
      if (known !== undefined && known.mark === reply.groupsMark)
        return withoutCorrupt(decodeView(reply, rollout, known.groups));
      const groups = broken.read(() => decodeGroups(reply.groups, rolloutId));
      if (groups === undefined)
        return { ...(await withoutCorrupt(decodeView(reply, rollout, noGroups))), groupsUnreadable: true };
      knownGroups.set(rolloutId, { mark: reply.groupsMark, groups });
      return withoutCorrupt(decodeView(reply, rollout, groups));
    },

    saveRollout: async ({ rollout, expectedRev, events, brake }, fence) => {
      const { keys } = ofRollout(rollout.id);
      const { fence: fenceKey, active } = ofPolicy(parseRolloutId(rollout.id).policy);
      const mark = nextMark();
      const save = () =>
        runScript(commands, saveRolloutScript, {
          keys: { ...keys, fence: fenceKey, active: active[rollout.kind] },
          args: {
            id: rollout.id,
            write: mark.write,
            fence,
            expectedRev,
            rev: rollout.rev,
            rollout: JSON.stringify(rollout),
            fields: rolloutFields(rollout, mark),
            brake,
            ended: rollout.endedAt === null ? '0' : '1',
            historyMs,
            events: encodeEvents(events),
          },
        });
      const answer = await save();
      if (answer !== 'packed') return answer;
      await unpackRecords(commands, keys);
      const again = await save();
      // Packed anew in between: whoever changes it judges again, and tries again.
      return again === 'packed' ? 'stale' : again;
    },

    packEnded: (policies, endedBefore, signal) => packEnded(kept, policies, { endedBefore, signal }),

    loadUpgrade: async (rolloutId, collectorId) => {
      const { upgrades, unreadable } = await loadUpgrades(commands, readable(rolloutId), [collectorId]);
      // Told of by now; but one that is asked for alone is not to be taken for one that is not there.
      if (unreadable.length > 0) await readUpgrades(commands, ofRollout(rolloutId), unreadable);
      return upgrades[0];
    },

    loadUpgrades: (rolloutId, collectorIds) => loadUpgrades(commands, readable(rolloutId), collectorIds),

    listMemberIds: async (rolloutId) =>
      (await commands.zrange(ofRollout(rolloutId).keys.order, '0', '-1')).map(Number),

    listUpgrades: (rolloutId, page) => listUpgrades(commands, readable(rolloutId), page),

    listDue: async (rolloutId, limit) => {
      const { due } = ofRollout(rolloutId).keys;
      const ids = limit <= 0 ? [] : await commands.zrange(due, '0', String(limit - 1));
      const { upgrades } = await loadUpgrades(commands, readable(rolloutId), ids.map(Number));
      // Read in two steps: one that is no longer on its way in between does not belong here.
      return upgrades.filter(
        (record) => record.progress.state !== 'retrying' && dueAtOf(record) !== undefined,
      );
    },

    listMissed: (rolloutId, of) => listMissed(commands, readable(rolloutId), of),

    admit: async ({ rolloutId, rolloutRev, slots, domains, changes }, fence) => {
      if (changes.length === 0) return [];
      const guard = { mode: 'admit', rolloutRev, slots, fence } as const;
      const withCaps = changes.map((change) => ({ ...change, domains }));
      return savedOf(changes, await write(rolloutId, guard, withCaps));
    },

    saveUpgrade: async (change, tripAbove) => {
      const changes = [{ ...change, tripAbove }];
      const [verdict] = await write(change.after.identity.rolloutId, { mode: 'save' }, changes);
      return verdict === 'saved' ? 'saved' : 'stale';
    },

    saveUpgrades: async (rolloutId, changes, guard) => {
      if (changes.length === 0) return [];
      return savedOf(changes, await write(rolloutId, { mode: 'save', ...guard }, changes));
    },

    repair: (of, replace) => repairUpgrades(commands, readable(of.rolloutId), of, replace, nextMark()),

    saveIntent: async (change, rolloutRev) => {
      const guard = { mode: 'intent', rolloutRev } as const;
      const [verdict] = await write(change.after.identity.rolloutId, guard, [change]);
      return verdict ?? 'stale';
    },

    countFreshIntents: (rolloutId, withinMs) =>
      runScript(commands, countFreshIntentsScript, {
        keys: rolloutKeys(keyPrefix, rolloutId),
        args: { withinMs },
      }),

    readEvents: async (rolloutId, { limit }) => {
      if (limit <= 0) return [];
      const { keys } = ofRollout(rolloutId);
      const entries = await commands.xrevrange(keys.events, '+', '-', 'COUNT', rangeBound(limit));
      return entries.flatMap(
        ([id, fields]) => broken.read(() => decodeEvent(fields[1] ?? '', rolloutId, id)) ?? [],
      );
    },
  };

  function write(
    rolloutId: string,
    guard: {
      readonly mode: 'save' | 'admit' | 'intent' | 'rejoin';
      readonly rolloutRev?: number;
      readonly slots?: number;
      readonly fence?: Fence;
    },
    changes: ReadonlyArray<
      UpgradeChange & { readonly domains?: readonly CapDomain[]; readonly tripAbove?: number | null }
    >,
  ): Promise<readonly Verdict[]> {
    const { fence } = ofPolicy(parseRolloutId(rolloutId).policy);
    return runScript(commands, writeUpgradesScript, {
      keys: { ...rolloutKeys(keyPrefix, rolloutId), fence },
      args: {
        rolloutRev: null,
        slots: null,
        fence: null,
        ...guard,
        write: nextWrite(),
        version,
        changes: changes.map((change) => encodeChange(change, version, change)),
      },
    });
  }
}

type Verdict = 'saved' | 'stale' | 'braked';

function savedOf(changes: readonly UpgradeChange[], verdicts: readonly Verdict[]): readonly number[] {
  return changes.flatMap(({ after }, index) =>
    verdicts[index] === 'saved' ? [after.identity.collectorId] : [],
  );
}
