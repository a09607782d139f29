import { z } from 'zod';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { AuditEntry, CollectorHold, FleetRegister } from '../../orchestrator/ports/fleet-register.ts';
import type { BuildHold } from '../../rollout/model/rollout.ts';
import { makeScript, makeWriteMarks, rangeBound, runScript } from '../connection/commands.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { defaultHistoryMs } from '../schema/rollout-keys.ts';
import { BrokenRecordError, type BrokenRecords, makeBrokenRecords } from '../schema/unreadable-records.ts';

// A command is sent again within seconds of a lost connection; after this nobody repeats it.
const marksKeptMs = 600_000;

/**
 * Sets a field that is not there, or removes one. Answers 1 when this call changed something, also when it is sent
 * again: without its mark a repeated release would undo a hold that came after it.
 * KEYS: hash, mark. ARGV: field, then the text for a hold.
 */
const changeFieldScript = makeScript(`
if redis.call('EXISTS', KEYS[2]) == 1 then return 1 end
local changed
if ARGV[2] then changed = redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
else changed = redis.call('HDEL', KEYS[1], ARGV[1]) end
if changed == 1 then redis.call('SET', KEYS[2], '1', 'PX', '${marksKeptMs}') end
return changed
`);

/** The holds of builds, names and texts in turn: thousands of collectors may be held beside them. KEYS: hash. */
const heldBuildsScript = makeScript(`
local found = {}
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.sub(field, 1, 6) == 'build:' then
    found[#found + 1] = field
    found[#found + 1] = redis.call('HGET', KEYS[1], field)
  end
end
return found
`);

// Years of what operators say.
const auditKeptMax = 10_000;

// Longer than a daemon sleeps that still has it to say.
const oncesKeptMs = 30 * 86_400_000;

/** Appends once, also when it is sent again. KEYS: stream, mark. ARGV: entry, the mark's life in ms. */
const auditScript = makeScript(`
if redis.call('EXISTS', KEYS[2]) == 1 then return 1 end
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ${auditKeptMax}, '*', 'entry', ARGV[1])
redis.call('SET', KEYS[2], '1', 'PX', ARGV[2])
return 1
`);

/** Hash: `build:<build>` or `collector:<id>` → the hold. */
export function holdsKeyOf(keyPrefix: string): string {
  return `${keyPrefix}:{fleet}:holds`;
}

export function holdField(hold: BuildHold | CollectorHold): string {
  return 'build' in hold ? `build:${hold.build}` : `collector:${hold.collectorId}`;
}

// Clocks of daemons and of Redis that differ by less are no trouble where ages are days.
const clocksDifferMs: DurationMs = 3_600_000;

/**
 * Notes builds on offer, and forgets those that have not been on offer for long. The first word on a build stands,
 * unless it lies in the future of Redis's own clock: then it came from a clock that was ahead, and would keep the build
 * too young for as long. A smaller instant alone is no reason, since it may come from a clock that is behind.
 * KEYS: hash of first observations, sorted set of last ones. ARGV: the instant, the one before which a last sighting is
 * forgotten, then the builds. Answers when each was seen first.
 */
const seeBuildsScript = makeScript(`
local soon = tonumber(redis.call('TIME')[1]) * 1000 + ${clocksDifferMs}
for at = 3, #ARGV do
  local first = tonumber(redis.call('HGET', KEYS[1], ARGV[at]) or ARGV[1])
  if first and first > soon and first > tonumber(ARGV[1]) then redis.call('HSET', KEYS[1], ARGV[at], ARGV[1]) end
  redis.call('HSETNX', KEYS[1], ARGV[at], ARGV[1])
  redis.call('ZADD', KEYS[2], 'GT', ARGV[1], ARGV[at])
end
for _, build in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '(' .. ARGV[2])) do
  redis.call('HDEL', KEYS[1], build)
  redis.call('ZREM', KEYS[2], build)
end
local first = {}
for at = 3, #ARGV do first[at - 2] = redis.call('HGET', KEYS[1], ARGV[at]) or '' end
return first
`);

const word = { by: z.string(), reason: z.string(), at: z.number() };
const buildHold = z.object({ build: z.string(), ...word }) satisfies z.ZodType<BuildHold>;
const collectorHold = z.object({
  collectorId: z.number(),
  name: z.string().exactOptional(),
  ...word,
}) satisfies z.ZodType<CollectorHold>;
const auditEntry = z.object({
  event: z.enum([
    'build.held',
    'build.released',
    'collector.held',
    'collector.released',
    'record.lost',
    'config.reloaded',
  ]),
  subject: z.string(),
  ...word,
}) satisfies z.ZodType<AuditEntry>;

// What is held stays held, also when nobody can read by whom and why (P5, P14): its key names it.
const unknownWord = { by: 'unknown', reason: "who held it, and why, can't be read", at: 0 } as const;

/** What belongs to no rollout, in keys that all daemons share. */
export function makeRedisFleetRegister(redis: {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
  /** How long a build that is no longer on offer is remembered. */
  readonly historyMs?: DurationMs;
  /** Who is told of what can't be read. */
  readonly broken?: BrokenRecords;
}): FleetRegister {
  const { commands, keyPrefix, historyMs = defaultHistoryMs } = redis;
  const broken = redis.broken ?? makeBrokenRecords(() => undefined);
  const nextMark = makeWriteMarks();
  const base = `${keyPrefix}:{fleet}`;
  const holdsKey = holdsKeyOf(keyPrefix);
  /** Hash: build → when it was seen first. */
  const buildsKey = `${base}:builds`;
  /** Sorted set: builds by when they were last on offer. */
  const offeredKey = `${base}:offered`;
  /** Stream: what operators said, oldest first. */
  const auditKey = `${base}:audit`;
  const nextMarkKey = () => `${base}:mark:${nextMark()}`;

  const change = async (field: string, hold?: BuildHold | CollectorHold) => {
    const args = hold === undefined ? [field] : [field, JSON.stringify(hold)];
    const keys = [holdsKey, nextMarkKey()];
    return (await runScript(commands, changeFieldScript, { keys, args })) === 1;
  };

  const readHolds = (entries: ReadonlyArray<readonly [field: string, text: string]>) => {
    const builds: BuildHold[] = [];
    const collectors: CollectorHold[] = [];
    for (const [field, text] of entries) {
      const [, kind, subject = ''] = /^(build|collector):(.*)$/s.exec(field) ?? [];
      const what = `the hold of ${field.replace(':', ' ')}`;
      if (kind === 'build') {
        const hold = broken.read(() => decode(buildHold, what, text));
        builds.push(hold ?? { build: subject, ...unknownWord });
      } else {
        const hold = broken.read(() => decode(collectorHold, what, text));
        const collectorId = Number(subject);
        if (hold !== undefined) collectors.push(hold);
        else if (Number.isSafeInteger(collectorId)) collectors.push({ collectorId, ...unknownWord });
      }
    }
    return { builds: builds.sort(byInstant), collectors: collectors.sort(byInstant) };
  };

  return {
    holds: async () => readHolds(Object.entries(await commands.hgetall(holdsKey))),
    heldBuilds: async () => {
      const call = { keys: [holdsKey], args: [] };
      const flat = (await runScript(commands, heldBuildsScript, call)) as readonly string[];
      const entries = flat.flatMap((field, at) =>
        at % 2 === 0 ? [[field, flat[at + 1] ?? ''] as const] : [],
      );
      return readHolds(entries).builds;
    },
    holdsOf: async (collectorIds) => {
      if (collectorIds.length === 0) return [];
      const fields = collectorIds.map((id) => `collector:${id}`);
      const texts = await commands.hmget(holdsKey, ...fields);
      const entries = fields.flatMap((field, index) => {
        const text = texts[index];
        return typeof text === 'string' ? [[field, text] as const] : [];
      });
      return readHolds(entries).collectors;
    },
    holdBuild: async (hold) => ((await change(holdField(hold), hold)) ? 'held' : 'unchanged'),
    holdCollector: async (hold) => ((await change(holdField(hold), hold)) ? 'held' : 'unchanged'),
    releaseBuild: async (build) => ((await change(`build:${build}`)) ? 'released' : 'unchanged'),
    releaseCollector: async (id) => ((await change(`collector:${id}`)) ? 'released' : 'unchanged'),
    audit: async (entry, once) => {
      const keys = [auditKey, once === undefined ? nextMarkKey() : `${base}:mark:told:${once}`];
      const keptMs = once === undefined ? marksKeptMs : oncesKeptMs;
      await runScript(commands, auditScript, { keys, args: [JSON.stringify(entry), keptMs] });
    },
    readAudit: async (limit) => {
      if (limit <= 0) return [];
      const entries = await commands.xrevrange(auditKey, '+', '-', 'COUNT', rangeBound(limit));
      const decodeEntry = (id: string, text: string) => decode(auditEntry, `entry ${id} of the audit`, text);
      return entries.flatMap(([id, fields]) => broken.read(() => decodeEntry(id, fields[1] ?? '')) ?? []);
    },
    firstSeen: async (builds, at) => {
      if (builds.length === 0) return new Map<string, EpochMs>();
      const instants = (await runScript(commands, seeBuildsScript, {
        keys: [buildsKey, offeredKey],
        args: [at, at - historyMs, ...builds],
      })) as readonly string[];
      return new Map(builds.map((build, index) => [build, decodeInstant(instants[index] ?? '', build)]));
    },
    lastOffered: async () => {
      const [, score] = await commands.zrevrange(offeredKey, 0, 0, 'WITHSCORES');
      if (score === undefined) return undefined;
      return { builds: await commands.zrangebyscore(offeredKey, score, '+inf'), at: Number(score) };
    },
  };
}

function byInstant(a: { readonly at: EpochMs }, b: { readonly at: EpochMs }): number {
  return a.at - b.at;
}

function decode<T>(schema: z.ZodType<T>, what: string, text: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new BrokenRecordError(what, error);
  }
}

function decodeInstant(text: string, build: string): EpochMs {
  const at = Number(text === '' ? Number.NaN : text);
  if (!Number.isFinite(at)) throw new BrokenRecordError(`when build ${build} was seen first`, text);
  return at;
}
