import { expect } from 'vitest';
import type { z } from 'zod';
import { wireCodes } from '../../../src/contract/collector-management/errors.ts';
import type { ApiAnswer } from './api.ts';
import { ErrorShape } from './wire-shapes.ts';

/** Reads a good answer: 2xx, JSON, and of the documented shape. */
export function read<Shape extends z.ZodType>(shape: Shape, answer: ApiAnswer): z.output<Shape> {
  const where = `${answer.method} ${answer.path}`;
  expect(`${where}: ${answer.status} ${excerpt(answer)}`).toMatch(/: 2\d\d /);
  expect(answer.headers['content-type'] ?? `${where}: no type`).toMatch(/^application\/json\b/);
  const parsed = shape.safeParse(json(answer));
  if (!parsed.success) throw new Error(`${where}: ${parsed.error.message}\nin ${excerpt(answer)}`);
  return parsed.data;
}

/** What an answer must be when something is refused. */
export interface Refusal {
  /** One that refuses the content, where the specification shows none: a 401, 405 or 429 has another reason. */
  readonly status?: number;
  /** One of these; any where the specification shows none. */
  readonly codes?: readonly string[];
}

/**
 * Checks an error answer: JSON, with the flat body of §7.1, whose status is the answer's. Codes count under their documented
 * names and under those seen on the wire (field-facts.md, The wire).
 */
export function expectRefusal(answer: ApiAnswer, refusal: Refusal = {}): z.output<typeof ErrorShape> {
  const where = `${answer.method} ${answer.path}`;
  if (refusal.status === undefined) {
    expect(`${where}: ${answer.status} ${excerpt(answer)}`).toMatch(/: (400|403|404|409|412|422|428) /);
  } else {
    expect([where, answer.status, excerpt(answer)]).toEqual([where, refusal.status, expect.anything()]);
  }
  expect(answer.headers['content-type'] ?? `${where}: no type`).toMatch(/^application\/json\b/);
  const body = ErrorShape.parse(json(answer));
  expect(body.status).toBe(answer.status);
  if (refusal.codes !== undefined) expect(refusal.codes).toContain(wireCodes[body.code] ?? body.code);
  return body;
}

/** The `ETag` of an answer, which must have one. */
export function etagOf(answer: ApiAnswer): string {
  const { etag } = answer.headers;
  if (etag === undefined) throw new Error(`${answer.method} ${answer.path} has no ETag`);
  return etag;
}

export function json(answer: ApiAnswer): unknown {
  try {
    return JSON.parse(answer.text);
  } catch {
    throw new Error(`${answer.method} ${answer.path}: no JSON: ${excerpt(answer)}`);
  }
}

function excerpt({ text }: ApiAnswer): string {
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}
