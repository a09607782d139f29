import { collectorManagementApi } from '../../../src/contract/collector-management/api.ts';
import type { Operation } from '../../../src/contract/operation.ts';
import type { WireAnswer } from './answer-parser.ts';
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
 * @param request undefined: bytes that are no request
 * @returns what is wrong with it, undefined when nothing is
 */
export function complaintAbout(answer: WireAnswer, request: FuzzRequest | undefined): string | undefined {
  const { status, text } = answer;
  if (status >= 500 && !isLostSearchJob(answer, request)) return `status ${status}: ${text.slice(0, 500)}`;
  if (request?.method === 'HEAD') return undefined;
  if (text === '' && status < 300) return undefined;
  if (request === undefined && isRefusedBelow(answer)) return undefined;
  if (!/^application\/json\b/.test(answer.headers.get('content-type') ?? '')) {
    return `status ${status} with the content type ${answer.headers.get('content-type')}: ${text.slice(0, 200)}`;
  }
  const body = parsed(text);
  if (body === undefined) return `status ${status} with a body that is no JSON: ${text.slice(0, 200)}`;
  return status < 300 ? complaintAboutResult(body.value, request) : complaintAboutError(body.value, answer);
}

function complaintAboutResult(body: unknown, request: FuzzRequest | undefined): string | undefined {
  const operation = request === undefined ? undefined : operationOf(request);
  const read = operation?.answer.body.safeParse(body);
  return read === undefined || read.success ? undefined : `${operation?.name}: ${read.error.message}`;
}

function complaintAboutError(body: unknown, { status, headers }: WireAnswer): string | undefined {
  const read = ErrorShape.safeParse(body);
  if (!read.success) return `status ${status} without the error body of §7.1: ${JSON.stringify(body)}`;
  if (read.data.status !== status) return `status ${status}, and ${read.data.status} in the body`;
  if (status === 401 && !headers.has('www-authenticate')) return '401 without a challenge';
  if (status === 405 && !headers.has('allow')) return '405 without the allowed methods';
  return undefined;
}

/** Without a Host, or with an unknown Expect, Node itself answers, in an empty body: no request reaches the service. */
function isRefusedBelow({ status, text }: WireAnswer): boolean {
  return (status === 400 || status === 417) && text === '';
}

/** The one documented 500: a follow-up call for a search job without its cookie (§5.5). */
function isLostSearchJob({ status, text }: WireAnswer, request: FuzzRequest | undefined): boolean {
  return (
    status === 500 &&
    request !== undefined &&
    normalPath(request.target).includes('/search/jobs/') &&
    !text.includes('a bug of')
  );
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
