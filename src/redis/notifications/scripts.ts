import { z } from 'zod';
import { defineScript } from '../connection/script.ts';

export const writeNoticesScript = defineScript({
  file: new URL('./write-notices.lua', import.meta.url),
  keys: ['announced', 'outbox'],
  args: { subject: 'text', before: 'text?', after: 'text', messages: 'json', messagesMax: 'number' },
  result: z.number(),
});
