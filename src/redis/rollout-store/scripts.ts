import { z } from 'zod';
import { defineScript } from '../connection/script.ts';

const number = z.number();
const isDone = z.number().transform((answer) => answer === 1);

export const planPlacesScript = defineScript({
  file: new URL('./lua/plan-places.lua', import.meta.url),
  keys: ['order'],
  args: { collectors: 'json' },
  result: z.array(number),
});

export const packRecordsScript = defineScript({
  file: new URL('./lua/pack-records.lua', import.meta.url),
  keys: ['rollout', 'records', 'packed'],
  args: { pack: 'text', body: 'text', of: 'json' },
  result: isDone,
});

export const unpackRecordsScript = defineScript({
  file: new URL('./lua/unpack-records.lua', import.meta.url),
  keys: ['rollout', 'records', 'packed'],
  args: { pack: 'text', of: 'json' },
  result: isDone,
});

export const countFreshIntentsScript = defineScript({
  file: new URL('./lua/count-fresh-intents.lua', import.meta.url),
  keys: ['intents'],
  args: { withinMs: 'number' },
  result: number,
});
