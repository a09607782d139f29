import type { RolloutStore, UpgradeChange } from '../orchestrator/ports.ts';
import type { RolloutEvent } from '../rollout/events.ts';
import type { Rollout, RolloutView } from '../rollout/rollout.ts';
import { BrokenRecordError } from './broken-record.ts';
import type { RedisCommands } from './connection.ts';
import { counterField, parseCounters, waveSummaryOf } from './counter-fields.ts';
import { freezePlan, keepEndedMs } from './freeze-plan.ts';
import { listUpgrades, readUpgrades } from './list-upgrades.ts';
import { parseRolloutId, policyKeys, recordKeyList, rolloutKeys } from './rollout-keys.ts';
import { saveRolloutScript } from './save-rollout-script.ts';
import { runScript } from './script.ts';
import { decodeRollout } from './stored-rollout.ts';
import { transitionScript } from './transition-script.ts';
import { encodeChange } from './upgrade-index.ts';
import { viewScript } from './view-script.ts';
import { makeWriteMarks } from './write-mark.ts';

// A policy looked at every 15 minutes that found work each time would make this many in ten days.
const rolloutsListedMax = 1_000;

/** A rollout store in Redis: each change is one Lua script, and all keys of a policy share a hash tag. */
export function makeRedisRolloutStore(redis: {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
}): RolloutStore {
  const { commands, keyPrefix } = redis;
  const nextMark = makeWriteMarks();
  const ofPolicy = (policy: string) => policyKeys(keyPrefix, policy);
  const ofRollout = (id: string) => ({ id, keys: rolloutKeys(keyPrefix, id) });

  return {
    activeRolloutIds: async (policies) => {
      const ids = await Promise.all(policies.map((policy) => commands.get(ofPolicy(policy).active)));
      return ids.filter((id) => id !== null);
    },

    listRollouts: async (policies) => {
      const lists = await Promise.all(policies.map((policy) => listKept(commands, keyPrefix, policy)));
      return lists
        .flat()
        .sort((a, b) => b.createdAt - a.createdAt)
        .slice(0, rolloutsListedMax);
    },

    loadRollout: (rolloutId) => loadRollout(commands, keyPrefix, rolloutId),

    nextRolloutNumber: async (policy, yyyymmdd) =>
      Number((await commands.get(ofPolicy(policy).number(yyyymmdd))) ?? 0) + 1,

    freeze: async (rollout, upgrades, events) => {
      await forgetExpired(commands, keyPrefix, rollout);
      return freezePlan(redis, { rollout, upgrades, events, write: nextMark() });
    },

    loadView: async (rolloutId, at) => {
      const { keys } = ofRollout(rolloutId);
      const reply = await runScript(commands, viewScript, {
        keys: [keys.rollout, keys.counters, keys.pending, keys.due, keys.retries],
        args: [at.now, at.overdueBefore, at.pageSize],
      });
      return reply === null ? undefined : decodeView(reply as ViewReply, rolloutId);
    },

    saveRollout: async ({ rollout, expectedRev, events, brake }, fence) => {
      const { policy } = parseRolloutId(rollout.id);
      const { keys } = ofRollout(rollout.id);
      const call = {
        id: rollout.id,
        write: nextMark(),
        expectedRev,
        rev: rollout.rev,
        state: rollout.state,
        brake,
        ended: rollout.endedAt !== null,
        keepMs: keepEndedMs,
        ...(fence === null ? {} : { fence }),
      };
      const { fence: fenceKey, active } = ofPolicy(policy);
      const answer = await runScript(commands, saveRolloutScript, {
        keys: [keys.rollout, keys.events, fenceKey, active, ...recordKeyList(keys)],
        args: [JSON.stringify(call), JSON.stringify(rollout), ...encodeEvents(events)],
      });
      return answer as 'saved' | 'stale';
    },

    loadUpgrade: async (rolloutId, collectorId) =>
      (await readUpgrades(commands, ofRollout(rolloutId), [collectorId]))[0],

    loadUpgrades: (rolloutId, collectorIds) => readUpgrades(commands, ofRollout(rolloutId), collectorIds),

    listUpgrades: (rolloutId, page) => listUpgrades(commands, ofRollout(rolloutId), page),

    admit: async ({ rolloutId, rolloutRev, slots, changes }, fence) => {
      if (changes.length === 0) return [];
      const call = { mode: 'admit', rolloutRev, slots, fence };
      const verdicts = await transition(rolloutId, call, changes);
      return changes.flatMap(({ after }, index) => (verdicts[index] === 'saved' ? [after.collectorId] : []));
    },

    saveUpgrade: async (change, tripAbove) => {
      const call = {
        mode: 'save',
        ...(tripAbove === null || !Number.isFinite(tripAbove) ? {} : { tripAbove }),
      };
      const [verdict] = await transition(change.after.rolloutId, call, [change]);
      return verdict === 'saved' ? 'saved' : 'stale';
    },

    saveIntent: async (change) => {
      const [verdict] = await transition(change.after.rolloutId, { mode: 'intent' }, [change]);
      return verdict ?? 'stale';
    },

    countFreshIntents: (rolloutId, since) =>
      commands.zcount(ofRollout(rolloutId).keys.intents, since, '+inf'),

    readEvents: async (rolloutId, { limit }) => {
      if (limit <= 0) return [];
      const { keys } = ofRollout(rolloutId);
      const entries = await commands.xrevrange(keys.events, '+', '-', 'COUNT', limit);
      return entries.map(([id, fields]) => decodeEvent(fields[1] ?? '', rolloutId, id));
    },
  };

  async function transition(
    rolloutId: string,
    call: Readonly<Record<string, string | number>>,
    changes: readonly UpgradeChange[],
  ): Promise<ReadonlyArray<'saved' | 'stale' | 'braked'>> {
    const { keys } = ofRollout(rolloutId);
    const { fence } = ofPolicy(parseRolloutId(rolloutId).policy);
    const { rollout, records, counters, pending, due, retries, intents, events } = keys;
    const reply = await runScript(commands, transitionScript, {
      keys: [rollout, records, counters, pending, due, retries, intents, events, fence],
      args: [JSON.stringify({ ...call, write: nextMark() }), ...changes.flatMap(encodeChange)],
    });
    return reply as ReadonlyArray<'saved' | 'stale' | 'braked'>;
  }
}

async function loadRollout(
  commands: RedisCommands,
  keyPrefix: string,
  rolloutId: string,
): Promise<Rollout | undefined> {
  const [json, rev] = await commands.hmget(rolloutKeys(keyPrefix, rolloutId).rollout, 'json', 'rev');
  return typeof json === 'string' ? decodeRollout(json, Number(rev), rolloutId) : undefined;
}

async function listKept(
  commands: RedisCommands,
  keyPrefix: string,
  policy: string,
): Promise<readonly Rollout[]> {
  const ids = await commands.zrevrange(policyKeys(keyPrefix, policy).rollouts, 0, rolloutsListedMax - 1);
  const rollouts = await Promise.all(ids.map((id) => loadRollout(commands, keyPrefix, id)));
  return rollouts.filter((rollout) => rollout !== undefined);
}

/** Takes rollouts whose keys have expired out of the policy's list. */
async function forgetExpired(commands: RedisCommands, keyPrefix: string, next: Rollout): Promise<void> {
  const { policy } = parseRolloutId(next.id);
  const { rollouts } = policyKeys(keyPrefix, policy);
  const old = await commands.zrangebyscore(
    rollouts,
    '-inf',
    next.createdAt - keepEndedMs,
    'LIMIT',
    0,
    rolloutsListedMax,
  );
  const kept = await Promise.all(old.map((id) => commands.exists(rolloutKeys(keyPrefix, id).rollout)));
  const gone = old.filter((_id, index) => kept[index] === 0);
  if (gone.length > 0) await commands.zrem(rollouts, ...gone);
}

type ViewReply = readonly [
  json: string,
  rev: string,
  brake: string,
  counters: readonly string[],
  retriesDue: readonly string[],
  nextRetryAt: string,
  candidateWave: string,
  candidates: readonly string[],
  overdue: readonly string[],
];

function decodeView(reply: ViewReply, rolloutId: string): RolloutView {
  const [json, rev, brake, counterReply, retriesDue, nextRetryAt, candidateWave, candidates, overdue] = reply;
  const rollout = decodeRollout(json, Number(rev), rolloutId);
  const counters = parseCounters(counterReply);
  const count = counters.get(counterField.learnedCount) ?? 0;
  const sumMs = counters.get(counterField.learnedSumMs) ?? 0;
  return {
    rollout,
    waves: rollout.waves.map((_wave, index) => waveSummaryOf(counters, index)),
    slotsTaken: counters.get(counterField.slots) ?? 0,
    retriesDue: retriesDue.map(Number),
    nextRetryAt: nextRetryAt === '' ? null : Number(nextRetryAt),
    candidates:
      candidateWave === '' ? null : { wave: Number(candidateWave), collectorIds: candidates.map(Number) },
    overdue: overdue.map(Number),
    braked: brake === '1',
    learned: { count, meanMs: count === 0 ? 0 : sumMs / count },
  };
}

function encodeEvents(events: readonly RolloutEvent[]): readonly string[] {
  return events.map((event) => JSON.stringify(event));
}

function decodeEvent(text: string, rolloutId: string, entryId: string): RolloutEvent {
  try {
    return JSON.parse(text) as RolloutEvent;
  } catch (error) {
    throw new BrokenRecordError(`event ${entryId} of rollout ${rolloutId}`, error);
  }
}
