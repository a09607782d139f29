import { z } from 'zod';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { auditEvents } from '../../base/vocabulary.ts';
import type { AuditEntry, CollectorHold, GroupHold } from '../../contract/admin/holds.ts';
import type { BuildHold } from '../../contract/admin/status-parts.ts';
import { auditKeptMax, type FleetRegister, type Holds } from '../../orchestrator/ports/fleet-register.ts';
import { parseAttributes } from '../../rollout/model/attributes.ts';
import { makeWriteMarks, pairsOf, rangeBound } from '../connection/commands.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { runScript } from '../connection/script.ts';
import { BrokenRecordError, type BrokenRecords, decodeRecord } from '../schema/unreadable-records.ts';
import { appendAuditScript, changeHoldScript, readHoldsScript, seeBuildsScript } from './scripts.ts';

// A command is repeated within seconds of a lost connection, never later.
const marksKeptMs = 600_000;

// Longer than any daemon is suspended before it repeats the entry.
const oncesKeptMs = 30 * 86_400_000;

/**
 * `holds`, a hash: `build:<build>`, `collector:<id>` or `group:<label>` → the hold. `holdsMark`, a string: another one after
 * each change.
 */
export function holdsKeysOf(keyPrefix: string) {
  return { holds: `${keyPrefix}:{fleet}:holds`, holdsMark: `${keyPrefix}:{fleet}:holdsMark` };
}

export function holdField(hold: BuildHold | CollectorHold | GroupHold): string {
  if ('build' in hold) return `build:${hold.build}`;
  return 'label' in hold ? `group:${hold.label}` : `collector:${hold.collectorId}`;
}

const attribution = { by: z.string(), reason: z.string(), at: z.number() };
const buildHold = z.object({ build: z.string(), ...attribution }) satisfies z.ZodType<BuildHold>;
const collectorHold = z.object({
  collectorId: z.number(),
  name: z.string().exactOptional(),
  ...attribution,
}) satisfies z.ZodType<CollectorHold>;
const groupHold = z.object({
  label: z.string(),
  attributes: z.array(z.object({ key: z.string(), value: z.string() })),
  ...attribution,
}) satisfies z.ZodType<GroupHold>;
const auditEntry = z.object({
  event: z.enum(auditEvents),
  subject: z.string(),
  ...attribution,
}) satisfies z.ZodType<AuditEntry>;

// A hold with an unreadable text still counts, because its key names the subject (P5, P14).
const unknownAttribution = { by: 'unknown', reason: 'its record is unreadable', at: 0 } as const;

/** Records that belong to no rollout, in keys that all daemons share. */
export function makeRedisFleetRegister(redis: {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
  /** How long a build is remembered after it was last on offer. */
  readonly historyMs: DurationMs;
  /** Receives unreadable records. */
  readonly broken: BrokenRecords;
}): FleetRegister {
  const { commands, keyPrefix, historyMs, broken } = redis;
  const nextMark = makeWriteMarks();
  const base = `${keyPrefix}:{fleet}`;
  const holdsKeys = holdsKeysOf(keyPrefix);
  /** Hash: build → when it was first seen. */
  const buildsKey = `${base}:builds`;
  /** Sorted set: builds by when they were last on offer. */
  const offeredKey = `${base}:offered`;
  /** Stream: the audit, oldest first. */
  const auditKey = `${base}:audit`;
  const nextMarkKey = () => `${base}:mark:${nextMark()}`;

  const change = (field: string, hold?: BuildHold | CollectorHold | GroupHold) =>
    runScript(commands, changeHoldScript, {
      keys: { ...holdsKeys, mark: nextMarkKey() },
      args: { field, hold: hold === undefined ? null : JSON.stringify(hold), marksKeptMs },
    });

  /** The holds as they were read last, which are read again only after a change. */
  let known = { mark: '', holds: decodeHolds(broken, []) };

  return {
    holds: async () => {
      const { mark: knownMark, holds } = known;
      const [mark, flat] = await runScript(commands, readHoldsScript, {
        keys: holdsKeys,
        args: { knownMark },
      });
      if (mark !== '' && mark === knownMark) return holds;
      known = { mark, holds: decodeHolds(broken, pairsOf(flat)) };
      return known.holds;
    },
    holdsOf: async (collectorIds) => {
      if (collectorIds.length === 0) return [];
      const fields = collectorIds.map((id) => `collector:${id}`);
      const texts = await commands.hmget(holdsKeys.holds, ...fields);
      const entries = fields.flatMap((field, index) => {
        const text = texts[index];
        return typeof text === 'string' ? [[field, text] as const] : [];
      });
      return decodeHolds(broken, entries).collectors;
    },
    holdBuild: async (hold) => ((await change(holdField(hold), hold)) ? 'held' : 'unchanged'),
    holdCollector: async (hold) => ((await change(holdField(hold), hold)) ? 'held' : 'unchanged'),
    holdGroup: async (hold) => ((await change(holdField(hold), hold)) ? 'held' : 'unchanged'),
    releaseBuild: async (build) => ((await change(`build:${build}`)) ? 'released' : 'unchanged'),
    releaseCollector: async (id) => ((await change(`collector:${id}`)) ? 'released' : 'unchanged'),
    releaseGroup: async (label) => ((await change(`group:${label}`)) ? 'released' : 'unchanged'),
    audit: async (entry, once) => {
      const mark = once === undefined ? nextMarkKey() : `${base}:mark:told:${once}`;
      const markKeptMs = once === undefined ? marksKeptMs : oncesKeptMs;
      await runScript(commands, appendAuditScript, {
        keys: { audit: auditKey, mark },
        args: { entry: JSON.stringify(entry), entriesMax: auditKeptMax, markKeptMs },
      });
    },
    readAudit: async (limit) => {
      if (limit <= 0) return [];
      const entries = await commands.xrevrange(auditKey, '+', '-', 'COUNT', rangeBound(limit));
      const decodeEntry = (id: string, text: string) =>
        decodeRecord(auditEntry, `entry ${id} of the audit`, text);
      return entries.flatMap(([id, fields]) => broken.read(() => decodeEntry(id, fields[1] ?? '')) ?? []);
    },
    firstSeen: async (builds, at) => {
      if (builds.length === 0) return new Map<string, EpochMs>();
      const instants = await runScript(commands, seeBuildsScript, {
        keys: { builds: buildsKey, offered: offeredKey },
        args: { at, forgetBefore: at - historyMs, onOffer: builds },
      });
      return new Map(builds.map((build, index) => [build, decodeInstant(instants[index] ?? '', build)]));
    },
    lastOffered: async () => {
      const [, score] = await commands.zrevrange(offeredKey, 0, 0, 'WITHSCORES');
      if (score === undefined) return undefined;
      return { builds: await commands.zrangebyscore(offeredKey, score, '+inf'), at: Number(score) };
    },
  };
}

type HoldField = readonly [field: string, text: string];

function decodeHolds(broken: BrokenRecords, entries: readonly HoldField[]): Holds {
  const builds: BuildHold[] = [];
  const collectors: CollectorHold[] = [];
  const groups: GroupHold[] = [];
  for (const [field, text] of entries) {
    const [, kind, subject = ''] = /^(build|collector|group):(.*)$/s.exec(field) ?? [];
    const what = `the hold of ${field.replace(':', ' ')}`;
    if (kind === 'build') {
      const hold = broken.read(() => decodeRecord(buildHold, what, text));
      builds.push(hold ?? { build: subject, ...unknownAttribution });
    } else if (kind === 'group') {
      const hold = broken.read(() => decodeRecord(groupHold, what, text));
      // Its name has its attributes. A group without any would be the whole fleet.
      const attributes = parseAttributes(subject);
      if (hold !== undefined) groups.push(hold);
      else if (attributes !== undefined) groups.push({ label: subject, attributes, ...unknownAttribution });
    } else {
      const hold = broken.read(() => decodeRecord(collectorHold, what, text));
      const collectorId = Number(subject);
      if (hold !== undefined) collectors.push(hold);
      else if (Number.isSafeInteger(collectorId)) collectors.push({ collectorId, ...unknownAttribution });
    }
  }
  return {
    builds: builds.sort(byInstant),
    collectors: collectors.sort(byInstant),
    groups: groups.sort(byInstant),
  };
}

function byInstant(a: { readonly at: EpochMs }, b: { readonly at: EpochMs }): number {
  return a.at - b.at;
}

function decodeInstant(text: string, build: string): EpochMs {
  const at = Number(text === '' ? Number.NaN : text);
  if (!Number.isFinite(at)) throw new BrokenRecordError(`when build ${build} was seen first`, text);
  return at;
}
