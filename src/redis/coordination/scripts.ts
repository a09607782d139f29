import { z } from 'zod';
import { defineScript } from '../connection/script.ts';

const texts = z.array(z.string());
const isDone = z.number().transform((answer) => answer === 1);

export const acquireLeaseScript = defineScript({
  file: new URL('./acquire-lease.lua', import.meta.url),
  keys: ['lease', 'epoch'],
  args: { owner: 'text', leaseMs: 'number' },
  result: z.number(),
});

export const releaseLeaseScript = defineScript({
  file: new URL('./release-lease.lua', import.meta.url),
  keys: ['lease'],
  args: { owner: 'text' },
  result: isDone,
});

export const beatScript = defineScript({
  file: new URL('./beat.lua', import.meta.url),
  keys: ['daemons', 'generations'],
  args: { daemon: 'text', body: 'text', livesMs: 'number', generationsMax: 'number', renewed: 'json' },
  result: texts,
});

export const changeHoldScript = defineScript({
  file: new URL('./change-hold.lua', import.meta.url),
  keys: ['holds', 'holdsMark', 'mark'],
  args: { field: 'text', hold: 'text?', marksKeptMs: 'number' },
  result: isDone,
});

export const readHoldsScript = defineScript({
  file: new URL('./read-holds.lua', import.meta.url),
  keys: ['holds', 'holdsMark'],
  args: { knownMark: 'text' },
  result: z.tuple([z.string(), texts]),
});

export const appendAuditScript = defineScript({
  file: new URL('./append-audit.lua', import.meta.url),
  keys: ['audit', 'mark'],
  args: { entry: 'text', entriesMax: 'number', markKeptMs: 'number' },
  result: isDone,
});

export const seeBuildsScript = defineScript({
  file: new URL('./see-builds.lua', import.meta.url),
  keys: ['builds', 'offered'],
  args: { at: 'number', forgetBefore: 'number', onOffer: 'json' },
  result: texts,
});

export const recordBuildScript = defineScript({
  file: new URL('./record-build.lua', import.meta.url),
  keys: ['records', 'ends'],
  args: { rollout: 'text', endedAt: 'number', record: 'text', recordsMax: 'number' },
  result: isDone,
});

export const putBackHoldsScript = defineScript({
  file: new URL('./put-back-holds.lua', import.meta.url),
  keys: ['holds', 'holdsMark', 'broughtBack'],
  args: { entries: 'json', mark: 'text', keptMs: 'number' },
  result: z.number(),
});

export const raiseNumberScript = defineScript({
  file: new URL('./raise-number.lua', import.meta.url),
  keys: ['number'],
  args: { taken: 'number', keptMs: 'number' },
  result: isDone,
});

export const reportWritesScript = defineScript({
  file: new URL('./report-writes.lua', import.meta.url),
  keys: ['reports'],
  args: { daemon: 'text', number: 'number', body: 'text', keptMs: 'number' },
  result: z.tuple([z.number(), texts]),
});
