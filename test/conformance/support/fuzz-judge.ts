import { collectorManagementApi } from '../../../src/contract/collector-management/api.ts';
import type { Operation } from '../../../src/contract/operation.ts';
import type { RawAnswer } from '../../support/network/raw-http.ts';
import type { FuzzRequest } from './fuzz-requests.ts';
import { ErrorShape } from './wire-shapes.ts';

const routes = (collectorManagementApi as readonly Operation[]).map((operation) => ({
  operation,
  pattern: new RegExp(`^(/api)?/v1${operation.path.replace(/\{\w+\}/g, '[^/]+')}/?$`),
}));

/** The operation that a request is for, where it is for one. */
export function operationOf({ method, target }: FuzzRequest): Operation | undefined {
  const path = normalPath(target);
  return routes.find(({ operation, pattern }) => operation.method === method && pattern.test(path))
    ?.operation;
}

/**
 * Judges an answer to a generated request: 2xx to 4xx, in a documented form.
 * @returns what is wrong with it, undefined when nothing is
 */
export function complaintAbout(answer: RawAnswer, request: FuzzRequest): string | undefined {
  const { status, text } = answer;
  if (status >= 500 && !isLostSearchJob(answer, request)) return `status ${status}: ${text.slice(0, 500)}`;
  if (request.method === 'HEAD') return undefined;
  if (text === '' && status < 300) return undefined;
  if (!/^application\/json\b/.test(answer.headers['content-type'] ?? '')) {
    return `status ${status} with the content type ${answer.headers['content-type']}: ${text.slice(0, 200)}`;
  }
  const body = parsed(text);
  if (body === undefined) return `status ${status} with a body that is not JSON: ${text.slice(0, 200)}`;
  return status < 300 ? complaintAboutResult(body.value, request) : complaintAboutError(body.value, answer);
}

function complaintAboutResult(body: unknown, request: FuzzRequest): string | undefined {
  const operation = operationOf(request);
  const read = operation?.answer.body.safeParse(body);
  return read === undefined || read.success ? undefined : `${operation?.name}: ${read.error.message}`;
}

function complaintAboutError(body: unknown, { status, headers }: RawAnswer): string | undefined {
  const read = ErrorShape.safeParse(body);
  if (!read.success) return `status ${status} without the error body of §7.1: ${JSON.stringify(body)}`;
  if (read.data.status !== status) return `status ${status}, and ${read.data.status} in the body`;
  if (status === 401 && headers['www-authenticate'] === undefined) return '401 without a challenge';
  if (status === 405 && headers.allow === undefined) return '405 without the allowed methods';
  return undefined;
}

/** The one documented 500: a follow-up call for a search job without its cookie (§5.5). */
function isLostSearchJob({ status, text }: RawAnswer, request: FuzzRequest): boolean {
  return status === 500 && normalPath(request.target).includes('/search/jobs/') && !text.includes('a bug of');
}

function normalPath(target: string): string {
  return (target.split('?', 1)[0] ?? '').replace(/\/{2,}/g, '/');
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
