import { z } from 'zod';
import { defineScript } from '../connection/script.ts';

const text = z.string();
const number = z.number();

export const reserveScript = defineScript({
  file: new URL('./reserve.lua', import.meta.url),
  keys: ['state', 'permits', 'late'],
  args: {
    returned: 'json',
    wanted: 'json',
    slackUs: 'number',
    spacingUs: 'number',
    marginShare: 'number',
    missedMaxUs: 'number',
    horizonUs: 'number',
    moreHorizonUs: 'number',
    slackMaxUs: 'number',
    permitsMax: 'number',
    permitLifeMs: 'number',
  },
  result: z.tuple([
    number,
    z.enum(['granted', 'full', 'far', 'paused']),
    number,
    number,
    text,
    z.array(number),
    number,
  ]),
});

export const lateScript = defineScript({
  file: new URL('./late.lua', import.meta.url),
  keys: ['late'],
  args: { slot: 'number', slotsMax: 'number', untilUs: 'number' },
  result: number,
});

export const pauseScript = defineScript({
  file: new URL('./pause.lua', import.meta.url),
  keys: ['state'],
  args: {
    kind: 'text',
    reason: 'text',
    forMs: 'number',
    firstMs: 'number',
    maxMs: 'number',
    recoveryMinMs: 'number',
    recoveryMaxMs: 'number',
  },
  result: number,
});

export const answeredScript = defineScript({
  file: new URL('./answered.lua', import.meta.url),
  keys: ['state'],
  args: { kind: 'text' },
  /** 1, or 0 for a response that came too early to count. */
  result: z.number().transform((answer) => answer === 1),
});

export const statusScript = defineScript({
  file: new URL('./status.lua', import.meta.url),
  keys: ['state'],
  args: {},
  result: z.tuple([text, number, text, number, text, number, text]),
});
