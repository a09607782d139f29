import { assertNever } from '../../base/assert.ts';
import { certificateProblemOf, certificateText } from '../../base/node-errors.ts';
import { cutText, toOneLine } from '../../base/safe-text.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { parseServiceError } from '../../contract/collector-management/errors.ts';
import type { Operation } from '../../contract/operation.ts';
import type { HttpFault } from '../../http/fault.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';
import { parseHttpDate } from './http-date.ts';

const messageLengthMax = 200;

/**
 * Converts a fault of a call, for all cases that need no memory; the sender handles 401, 301 and 308 (DESIGN §4, What a
 * failure means). A response that is not JSON comes from something between upwave and the service, so it proves nothing
 * about a collector or a task (P13).
 * @param redact removes secrets from a text that the service sent (P12)
 */
export function serviceFailureOf(
  fault: HttpFault,
  operation: Operation,
  redact: (text: string) => string,
): ServiceFailure {
  if (fault.kind === 'aborted') return { kind: 'cancelled', sent: fault.sent };
  // The status is enough for these, also when the body was cut off: the service has certainly not acted.
  if (fault.status === 429)
    return { kind: 'throttled', detail: `${operation.name}: rate limit exceeded (429).` };
  if (fault.status === 431) {
    const detail = `${operation.name}: the request's header is too long for the server (431). Its cookies were removed.`;
    return { kind: 'unavailable', sent: false, detail };
  }
  const refusedCertificate = certificateFailureOf(fault, operation.name);
  if (refusedCertificate !== undefined) return refusedCertificate;
  switch (fault.kind) {
    case 'connect':
    case 'timeout':
    case 'reset':
    case 'undecodable':
    case 'tooLarge':
      return {
        kind: 'unavailable',
        sent: fault.sent,
        ...(isUnreached(fault) ? { isUnreached: true } : {}),
        detail: `${fault.message}.${fault.kind === 'undecodable' && isPage(fault) ? pageAdvice : ''}`,
      };
    case 'status':
      return refusal(fault, fault.status ?? 0, operation, redact);
    default:
      return assertNever(fault.kind);
  }
}

// A page with an error status is transient. A page with a 2xx stays until someone corrects its cause.
const pageAdvice =
  ' A proxy or a sign-in page answered instead of the service. Check baseUrl in the config if this lasts.';

/** True when no response came at all. */
function isUnreached({ kind, status }: HttpFault): boolean {
  return status === undefined && (kind === 'connect' || kind === 'timeout' || kind === 'reset');
}

function refusal(
  fault: HttpFault,
  status: number,
  operation: Operation,
  redact: (text: string) => string,
): ServiceFailure {
  const reason = describeBody(fault, redact);
  const detail = `${operation.name}: answered ${status}${reason}.`;
  if (isPage(fault)) return { kind: 'unavailable', sent: true, detail };
  const { code } = parseServiceError(fault.body);
  // A documented refusal of this operation. The status that comes with it is not documented (§7.4, end).
  const isOwnCode = code !== undefined && operation.errors.includes(code);
  if (status === 403 && !isOwnCode) {
    return {
      kind: 'misconfigured',
      detail: `The service forbids ${operation.name} (403)${reason}. Give the access key's owner the capability to manage collectors.`,
    };
  }
  if (status === 415) {
    return {
      kind: 'misconfigured',
      detail: `The service refused the JSON content type of ${operation.name} (415)${reason}. Check for a proxy that changes the Content-Type header.`,
    };
  }
  if (status < 400 || status >= 500 || status === 408) return { kind: 'unavailable', sent: true, detail };
  if (status === 404)
    return notFound(code === undefined ? undefined : safeText(code, redact), operation, detail);
  return { kind: 'refused', code: safeText(code ?? `status.${status}`, redact), status, detail };
}

function notFound(code: string | undefined, operation: Operation, detail: string): ServiceFailure {
  if (operation.method === 'GET' && !operation.path.includes('{')) {
    return {
      kind: 'misconfigured',
      detail: `${detail} The service has no ${operation.path} below this base URL: check the path of baseUrl in the config.`,
    };
  }
  return { kind: 'notFound', detail, ...(code === undefined ? {} : { code }) };
}

function describeBody(fault: HttpFault, redact: (text: string) => string): string {
  if (isPage(fault)) return ' with a page that is not JSON';
  const { code, message } = parseServiceError(fault.body);
  const words = [code, message].filter((word) => word !== undefined && word !== '').join(': ');
  return words === '' ? '' : ` (${safeText(words, redact)})`;
}

function safeText(words: string, redact: (text: string) => string): string {
  return cutText(redact(toOneLine(words)), messageLengthMax);
}

/**
 * Parses `Retry-After`: whole seconds, or an instant on the service's clock.
 * @returns null when it is absent or unreadable
 */
export function retryAfterMsOf(headers: HttpFault['headers'], now: EpochMs): DurationMs | null {
  const text = headers['retry-after'];
  if (text === undefined) return null;
  if (/^\d+$/.test(text.trim())) return Number(text) * 1_000;
  const at = parseHttpDate(text, now);
  return at === null ? null : Math.max(0, at - (serviceTimeOf(headers, now) ?? now));
}

/** The service's time at a response, from its `Date` header. */
export function serviceTimeOf(headers: HttpFault['headers'], now: EpochMs): EpochMs | null {
  return headers.date === undefined ? null : parseHttpDate(headers.date, now);
}

/** Statuses with which the service refuses a request before it reads it, perhaps with a short plain text. */
const bareRefusals: readonly (number | undefined)[] = [403, 415];

/**
 * True when a response was written by something in between, such as a gateway's or a firewall's page: the service sends
 * JSON or an empty body (P13). A page names its content type, so a short plain refusal without one is the service's
 * own.
 */
export function isPage({ isJson, status, headers }: HttpFault): boolean {
  if (isJson) return false;
  return !bareRefusals.includes(status) || headers['content-type'] !== undefined;
}

/**
 * Describes a refused certificate. An unknown authority or another name needs a check of the config or the network. An
 * expired certificate must be renewed by the service, so that failure is transient.
 * @returns undefined for any other fault
 */
export function certificateFailureOf(fault: HttpFault, operation: string): ServiceFailure | undefined {
  const problem = certificateProblemOf(fault.cause);
  if (problem === undefined) return undefined;
  const words = `service's certificate ${certificateText[problem]}. ${certificateAdvice[problem]}`;
  return problem === 'outOfDate'
    ? { kind: 'unavailable', sent: false, detail: `${operation}: the ${words}` }
    : { kind: 'misconfigured', detail: `The ${words}` };
}

const certificateAdvice: Readonly<Record<keyof typeof certificateText, string>> = {
  unknownAuthority: "Set service.caFile to the authority's certificate (PEM).",
  otherName: 'Check the host of baseUrl in the config, and which server answers there.',
  outOfDate: 'Check the clock of this machine; otherwise the service must renew it.',
};
