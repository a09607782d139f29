import { z } from 'zod';
import type { TextReason } from '../../rollout/model/upgrade-reason.ts';

// Version 1 of the records has sentences instead of kinds. They are read as kind `text`.

const asText = (text: string): TextReason => ({ kind: 'text', text });

/** A reason in a rollout's record. */
export const storedReason = z.union([z.string().transform(asText), z.looseObject({ kind: z.string() })]);

/** Parses the JSON of an upgrade of version 1. */
export function parseWithTexts(json: string): unknown {
  return JSON.parse(json, (key, value: unknown) => {
    if (key === 'reason' && typeof value === 'string') return asText(value);
    return key === 'refused' ? withDetail(value) : value;
  });
}

/** In a refused create, the service's message was called `reason`. */
function withDetail(refused: unknown): unknown {
  if (typeof refused !== 'object' || refused === null || !('reason' in refused)) return refused;
  const { reason, ...rest } = refused;
  return { ...rest, detail: (reason as TextReason).text };
}
