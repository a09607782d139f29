import { z } from 'zod';
import { defineScript } from '../connection/script.ts';

const text = z.string();
const texts = z.array(z.string());
const number = z.number();
const isDone = z.number().transform((answer) => answer === 1);

/** The keys of records, and of the counters and sorted sets that change with them. */
const writtenKeys = ['records', 'counters', 'pending', 'due', 'retries', 'intents', 'missed'] as const;

/** All keys of a plan's records. */
const recordKeys = [...writtenKeys, 'order', 'names'] as const;

/** The keys of a staged plan. Counters are not staged. */
const stagedKeys = [
  'stagedRecords',
  'stagedOrder',
  'stagedPending',
  'stagedDue',
  'stagedRetries',
  'stagedIntents',
  'stagedMissed',
  'stagedNames',
] as const;

/** Arguments with a rollout's own record. */
const rolloutArgs = { write: 'text', rollout: 'text', fields: 'json', events: 'json' } as const;
/** Arguments that replace a rollout. */
const changedArgs = { ...rolloutArgs, expectedRev: 'number', rev: 'number' } as const;
const groupArgs = { groups: 'text', attributes: 'text' } as const;
const planArgs = { ...groupArgs, counts: 'json', planned: 'number' } as const;

export const viewScript = defineScript({
  file: new URL('./lua/view.lua', import.meta.url),
  keys: ['rollout', 'counters', 'pending', 'due', 'retries', 'groups'],
  args: {
    now: 'number',
    overdueBefore: 'number',
    pageSize: 'number',
    candidatesMax: 'number',
    perLaneMin: 'number',
    knownMark: 'text',
    laneSpan: 'number',
    waveSpan: 'number',
    lanesMax: 'number',
  },
  result: z
    .tuple([text, text, text, texts, texts, texts, text, texts, text, text, text, z.number()])
    .transform(
      ([
        json,
        rev,
        brake,
        counters,
        pending,
        retries,
        nextRetryAt,
        overdue,
        groupsMark,
        groups,
        v,
        pacedForMs,
      ]) => ({
        stored: { json, rev, v },
        brake,
        counters,
        pending,
        retries,
        nextRetryAt,
        overdue,
        groupsMark,
        groups,
        pacedForMs,
      }),
    )
    .nullable(),
});

/** The reply of `view.lua` for an existing rollout. */
export type ViewReply = NonNullable<z.output<typeof viewScript.result>>;

export const saveRolloutScript = defineScript({
  file: new URL('./lua/save-rollout.lua', import.meta.url),
  keys: [
    'rollout',
    'events',
    'milestones',
    'fence',
    'active',
    'toPack',
    'groups',
    'attributes',
    'packed',
    ...recordKeys,
  ],
  args: {
    ...changedArgs,
    id: 'text',
    fence: 'number?',
    brake: 'text',
    endedAt: 'number?',
    historyMs: 'number',
  },
  result: z.enum(['saved', 'stale', 'packed']),
});

export const writeUpgradesScript = defineScript({
  file: new URL('./lua/write-upgrades.lua', import.meta.url),
  keys: ['rollout', 'events', 'fence', ...writtenKeys],
  args: {
    mode: 'text',
    write: 'text',
    version: 'number',
    rolloutRev: 'number?',
    slotsMax: 'number?',
    fence: 'number?',
    changes: 'json',
  },
  result: z.array(z.enum(['saved', 'stale', 'braked'])),
});

export const dropStrayRetriesScript = defineScript({
  file: new URL('./lua/drop-stray-retries.lua', import.meta.url),
  keys: ['records', 'retries'],
  args: { members: 'json' },
  result: isDone,
});

export const stagePlanScript = defineScript({
  file: new URL('./lua/stage-plan.lua', import.meta.url),
  keys: recordKeys,
  args: { write: 'text', stagedForMs: 'number', entries: 'json' },
  result: number,
});

export const activatePlanScript = defineScript({
  file: new URL('./lua/activate-plan.lua', import.meta.url),
  keys: [
    'active',
    'rollouts',
    'number',
    'rollout',
    'events',
    'milestones',
    'groups',
    'attributes',
    ...recordKeys,
    ...stagedKeys,
  ],
  args: {
    ...rolloutArgs,
    ...planArgs,
    id: 'text',
    number: 'number',
    numberKeptMs: 'number',
    createdAt: 'number',
  },
  result: z.enum(['frozen', 'busy', 'lost']),
});

export const replacePlanScript = defineScript({
  file: new URL('./lua/replace-plan.lua', import.meta.url),
  keys: ['rollout', 'events', 'milestones', 'groups', 'attributes', ...recordKeys, ...stagedKeys],
  args: { ...changedArgs, ...planArgs },
  result: z.enum(['saved', 'stale', 'lost']),
});

export const stageJoinersScript = defineScript({
  file: new URL('./lua/stage-joiners.lua', import.meta.url),
  keys: ['joiners'],
  args: { stagedForMs: 'number', entries: 'json' },
  result: number,
});

export const joinPlanScript = defineScript({
  file: new URL('./lua/join-plan.lua', import.meta.url),
  keys: ['rollout', 'events', 'milestones', 'fence', 'groups', 'attributes', 'joiners', ...recordKeys],
  args: { ...changedArgs, ...groupArgs, fence: 'number?', joining: 'number' },
  result: z.enum(['saved', 'stale', 'lost']),
});

export const planPlacesScript = defineScript({
  file: new URL('./lua/plan-places.lua', import.meta.url),
  keys: ['order'],
  args: { collectors: 'json' },
  result: z.array(number),
});

export const packRecordsScript = defineScript({
  file: new URL('./lua/pack-records.lua', import.meta.url),
  keys: ['rollout', 'records', 'packed'],
  args: { pack: 'text', body: 'text', records: 'json' },
  result: isDone,
});

export const unpackRecordsScript = defineScript({
  file: new URL('./lua/unpack-records.lua', import.meta.url),
  keys: ['rollout', 'records', 'packed'],
  args: { pack: 'text', records: 'json' },
  result: isDone,
});

export const countFreshIntentsScript = defineScript({
  file: new URL('./lua/count-fresh-intents.lua', import.meta.url),
  keys: ['intents'],
  args: { withinMs: 'number' },
  result: number,
});
