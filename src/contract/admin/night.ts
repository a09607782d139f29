import { z } from 'zod';
import { Instant, listOf, namedObject, rowsOf, WaveStateName } from './status-parts.ts';

const spanKinds = ['upgrade', 'soak', 'gates', 'approval', 'back'] as const;
const bandKinds = ['hold', 'buildHold', 'pause', 'approval', 'inventory', 'window', 'freeze'] as const;

const Stretch = { from: Instant, to: Instant.nullable().describe('Null: it lasts.') };

/** The condition of a gate for its values. */
export const GateExpectation = z.object({
  operator: z.enum(['>=', '>', '<=', '<', '==', '!=']),
  value: z.number(),
});

export const GateSampleVerdict = z.enum(['met', 'missed', 'hold', 'error']);

export const RolloutNight = namedObject('RolloutNight', 'A rollout on one time axis.', {
  ...Stretch,
  lanes: rowsOf({
    wave: z.string(),
    state: WaveStateName,
    spans: rowsOf({
      kind: z
        .enum(spanKinds)
        .describe(
          '`upgrade`: collectors are upgraded. `gates`: the soak is over, and the gate has not passed. `approval`: it waits for one. `back`: collectors are rolled back.',
        ),
      ...Stretch,
      dueAt: Instant.nullable().describe('When a soak is to end; null for other spans.'),
    }),
  }),
  bands: rowsOf({
    kind: z
      .enum(bandKinds)
      .describe(
        '`buildHold`: its target build is held. `approval`: the plan waits for one. `inventory`: the inventory is implausible. `window`: no window is open.',
      ),
    ...Stretch,
    reason: z.string(),
    by: z.string().describe('Empty for windows and freezes.'),
  }).describe(
    'Why nothing started in any wave. Windows and freezes only while they were in force; none that begins later than tomorrow.',
  ),
  marks: listOf(
    z.discriminatedUnion('kind', [
      z.object({
        kind: z.literal('event'),
        at: Instant,
        event: z.string().describe('Its name, as in the list of events.'),
        wave: z.string().nullable(),
        subject: z
          .string()
          .exactOptional()
          .describe(
            'The retried failures, or the id of the rollback that was aborted. Absent: the event is about the rollout or its wave.',
          ),
        reason: z.string(),
        by: z.string(),
      }),
      z.object({
        kind: z.literal('gate'),
        at: Instant,
        wave: z.string(),
        gate: z.string(),
        verdict: GateSampleVerdict,
        value: z.number().nullable(),
        expect: GateExpectation.nullable(),
      }),
    ]),
  ).describe(
    'Single instants, oldest first: what operators did, and changed results of gates. The newest 200.',
  ),
});
export type RolloutNight = z.infer<typeof RolloutNight>;
