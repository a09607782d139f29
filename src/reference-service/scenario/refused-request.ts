import { z } from 'zod';
import type { HttpAnswer } from '../../http/operation-handlers.ts';

/** A refused request, which becomes the flat error body (collector-api.md §7.1). */
export class RefusedRequest extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = 'RefusedRequest';
    this.status = status;
    this.code = code;
  }
}

/** The documented body, a gateway's, and a page (field-facts.md, The wire). */
const Form = z.enum(['flat', 'list', 'html']);
type Form = z.infer<typeof Form>;

/** One form for all errors, or one by status. Default: flat. */
export const ErrorBodies = z.union([Form, z.record(z.string().regex(/^[345]\d\d$/), Form)]);
export type ErrorBodies = z.infer<typeof ErrorBodies>;

export function formOf(bodies: ErrorBodies, status: number): Form {
  return typeof bodies === 'string' ? bodies : (bodies[String(status)] ?? 'flat');
}

/** Writes a failure's body in a form. */
export function errorBody(
  form: Form,
  failure: Pick<RefusedRequest, 'status' | 'code' | 'message'> & { readonly id: string },
): Pick<HttpAnswer, 'headers' | 'body'> {
  const { status, code, message, id } = failure;
  switch (form) {
    case 'flat':
      return { body: { status, id, code, message } };
    case 'list':
      return { body: { id, errors: [{ code, message }] } };
    case 'html':
      return {
        headers: { 'content-type': 'text/html; charset=utf-8' },
        body: `<html><head><title>${status}</title></head><body><h1>${status} Error</h1></body></html>`,
      };
  }
}
