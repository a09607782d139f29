import { z } from 'zod';
import { hashHex } from '../../base/hash.ts';
import type { EpochMs } from '../../base/time.ts';
import type {
  Announced,
  NoticeThread,
  Outbox,
  ReceiverFailure,
  Remembered,
} from '../../orchestrator/ports/notifications.ts';
import { type Notice, noticeEvents } from '../../rollout/model/notice.ts';
import type { AnnouncedRollout } from '../../rollout/notices/due-notices.ts';
import type { AnnouncedPolicy } from '../../rollout/notices/due-of-policy.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { runScript } from '../connection/script.ts';
import { type BrokenRecords, decodeRecord } from '../schema/unreadable-records.ts';
import { writeNoticesScript } from './scripts.ts';

// In a busy installation, an unreachable receiver has dozens of pending messages after a day.
const messagesMax = 2_000;

// Loose, because the rest was written by `JSON.stringify` of the type.
const incident = z.looseObject({
  incident: z.string(),
  details: z.looseObject({ event: z.enum(noticeEvents) }),
});
const announcedRollout = z.looseObject({
  started: z.boolean(),
  passed: z.array(z.string()),
  open: z.array(incident),
  endedAt: z.number().nullable(),
  progress: z.object({ mark: z.string(), at: z.number() }),
});
const announcedPolicy = z.looseObject({ failingSince: z.number().nullable(), open: incident.nullable() });
const message = z.object({
  receiver: z.string(),
  notice: z.looseObject({
    id: z.string(),
    incident: z.string(),
    at: z.number(),
    policy: z.string(),
    phase: z.enum(['once', 'raised', 'over']),
    details: z.looseObject({ event: z.enum(noticeEvents) }),
    commands: z.array(z.string()),
  }),
});
const failure = z.object({
  failures: z.number(),
  since: z.number(),
  reason: z.string(),
  retryAt: z.number(),
}) satisfies z.ZodType<ReceiverFailure>;

const noticeThread = z.object({
  channel: z.string(),
  message: z.string(),
}) satisfies z.ZodType<NoticeThread>;

// An incident that lasts longer begins a new thread with its end.
const threadKeptSeconds = 30 * 86_400;

// Names of rollouts and policies contain no colon.
const ofPolicy = 'policy:';
const sinceField = 'since:';

/** Pending messages and what was announced, in their own keys, because they belong to no policy. */
export function makeRedisOutbox(redis: {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
  readonly broken: BrokenRecords;
}): Outbox {
  const { commands, keyPrefix, broken } = redis;
  const base = `${keyPrefix}:{notify}`;
  const keys = { announced: `${base}:announced`, outbox: `${base}:outbox` };
  const failuresKey = `${base}:failures`;
  // A hash, because labels of strata are untrusted and may be long.
  const threadKey = (receiver: string, incident: string) =>
    `${base}:thread:${hashHex(`${receiver}\n${incident}`, 32)}`;
  const readMessages = async () =>
    (await commands.lrange(keys.outbox, 0, -1)).flatMap((entry) => {
      const read = broken.read(() => decodeRecord(message, 'a message that waits', entry));
      return read === undefined ? [] : [{ ...read, entry }];
    });

  return {
    readAnnounced: async (now) => {
      const fields = await commands.hgetall(keys.announced);
      if (fields[sinceField] === undefined) await commands.hsetnx(keys.announced, sinceField, String(now));
      return announcedOf(fields, now, broken);
    },
    write: async (announcement, mark, messages) => {
      const pushedOut = await runScript(commands, writeNoticesScript, {
        keys,
        args: {
          subject: 'rollout' in announcement ? announcement.rollout : `${ofPolicy}${announcement.policy}`,
          before: mark,
          after: JSON.stringify(announcement.announced),
          messages: messages.map((each) => JSON.stringify(each)),
          messagesMax,
        },
      });
      return pushedOut < 0 ? 'stale' : { pushedOut };
    },
    forget: async (rolloutIds) => {
      if (rolloutIds.length > 0) await commands.hdel(keys.announced, ...rolloutIds);
    },
    read: async (receiver) =>
      (await readMessages())
        .filter((each) => each.receiver === receiver)
        // The schema is loose, but the text was written from a `Notice`.
        .map(({ notice, entry }) => ({ notice: notice as unknown as Notice, entry })),
    receivers: async () => new Set((await readMessages()).map(({ receiver }) => receiver)),
    remove: async ({ entry }) => {
      await commands.lrem(keys.outbox, 1, entry);
    },
    readThread: async (receiver, incident) => {
      const text = await commands.get(threadKey(receiver, incident));
      if (text === null) return null;
      return broken.read(() => decodeRecord(noticeThread, 'the thread of an incident', text)) ?? null;
    },
    saveThread: async (receiver, incident, thread) => {
      await commands.set(threadKey(receiver, incident), JSON.stringify(thread), 'EX', threadKeptSeconds);
    },
    readFailures: async () => {
      const fields = await commands.hgetall(failuresKey);
      return new Map(
        Object.entries(fields).flatMap(([receiver, text]) => {
          const read = broken.read(() => decodeRecord(failure, `the failure of receiver ${receiver}`, text));
          return read === undefined ? [] : [[receiver, read] as const];
        }),
      );
    },
    saveFailure: async (receiver, present) => {
      if (present === null) await commands.hdel(failuresKey, receiver);
      else await commands.hset(failuresKey, receiver, JSON.stringify(present));
    },
  };
}

function announcedOf(
  { [sinceField]: since, ...fields }: Readonly<Record<string, string>>,
  now: EpochMs,
  broken: BrokenRecords,
): Announced {
  const rollouts = new Map<string, Remembered<AnnouncedRollout>>();
  const policies = new Map<string, Remembered<AnnouncedPolicy>>();
  for (const [field, mark] of Object.entries(fields)) {
    const what = `what was announced of ${field}`;
    if (field.startsWith(ofPolicy)) {
      const announced = broken.read(() => decodeRecord(announcedPolicy, what, mark));
      if (announced !== undefined)
        policies.set(field.slice(ofPolicy.length), {
          announced: announced as unknown as AnnouncedPolicy,
          mark,
        });
    } else {
      const announced = broken.read(() => decodeRecord(announcedRollout, what, mark));
      if (announced !== undefined)
        rollouts.set(field, { announced: announced as unknown as AnnouncedRollout, mark });
    }
  }
  return { since: Number(since ?? now), rollouts, policies };
}
