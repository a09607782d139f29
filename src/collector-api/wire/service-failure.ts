import { assertNever } from '../../base/assert.ts';
import { certificateProblemOf, certificateWords } from '../../base/node-errors.ts';
import { cutText, toOneLine } from '../../base/safe-text.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { parseServiceError } from '../../contract/collector-management/errors.ts';
import type { Operation } from '../../contract/operation.ts';
import type { HttpFault } from '../../http/fault.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';
import { parseHttpDate } from './http-date.ts';

const messageLengthMax = 200;

/**
 * What a fault of a call means, for all that needs no memory; what a 401, 301 or 308 means, the sender knows (DESIGN §4,
 * What a failure means). An answer that is not JSON comes from something between us and the service, so it proves nothing about
 * a collector or a task (P13).
 * @param hide removes secrets from a text that the service wrote (P12)
 */
export function serviceFailureOf(
  fault: HttpFault,
  operation: Operation,
  hide: (text: string) => string,
): ServiceFailure {
  if (fault.kind === 'aborted') return { kind: 'cancelled', sent: fault.sent };
  // Reported by the status alone, also where the body was cut off: certainly not acted on.
  if (fault.status === 429)
    return { kind: 'throttled', detail: `${operation.name}: rate limit exceeded (429).` };
  if (fault.status === 431) {
    const detail = `${operation.name}: the request's header is too long for the server (431); its cookies are forgotten.`;
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
      return refusal(fault, fault.status ?? 0, operation, hide);
    default:
      return assertNever(fault.kind);
  }
}

// An error page passes with its error. A page with a good status stays until someone corrects what sends it.
const pageAdvice =
  ' A proxy or a sign-in page answers in place of the service. Check service.baseUrl if this lasts.';

/** No answer came at all. */
function isUnreached({ kind, status }: HttpFault): boolean {
  return status === undefined && (kind === 'connect' || kind === 'timeout' || kind === 'reset');
}

function refusal(
  fault: HttpFault,
  status: number,
  operation: Operation,
  hide: (text: string) => string,
): ServiceFailure {
  const said = whatItSaid(fault, hide);
  const detail = `${operation.name}: answered ${status}${said}.`;
  if (isPage(fault)) return { kind: 'unavailable', sent: true, detail };
  const { code } = parseServiceError(fault.body);
  // A refusal of this very request, under whatever status: which one comes with it is not documented (§7.4, end).
  const isOwnCode = code !== undefined && operation.errors.includes(code);
  if (status === 403 && !isOwnCode) {
    return {
      kind: 'misconfigured',
      detail: `The service forbids ${operation.name} (403)${said}. Give the access key's owner the capability to manage collectors.`,
    };
  }
  if (status === 415) {
    return {
      kind: 'misconfigured',
      detail: `The service does not take our JSON for ${operation.name} (415)${said}. Check for a proxy that changes the Content-Type header on the way.`,
    };
  }
  if (status < 400 || status >= 500 || status === 408) return { kind: 'unavailable', sent: true, detail };
  if (status === 404) return notFound(code === undefined ? undefined : say(code, hide), operation, detail);
  return { kind: 'refused', code: say(code ?? `status.${status}`, hide), status, detail };
}

function notFound(code: string | undefined, operation: Operation, detail: string): ServiceFailure {
  if (operation.method === 'GET' && !operation.path.includes('{')) {
    return {
      kind: 'misconfigured',
      detail: `${detail} The service has no ${operation.path} below this base URL: check the path in service.baseUrl.`,
    };
  }
  return { kind: 'notFound', detail, ...(code === undefined ? {} : { code }) };
}

function whatItSaid(fault: HttpFault, hide: (text: string) => string): string {
  if (isPage(fault)) return ' with a page that is not JSON';
  const { code, message } = parseServiceError(fault.body);
  const words = [code, message].filter((word) => word !== undefined && word !== '').join(': ');
  return words === '' ? '' : ` (${say(words, hide)})`;
}

function say(words: string, hide: (text: string) => string): string {
  return cutText(hide(toOneLine(words)), messageLengthMax);
}

/**
 * What `Retry-After` asks for: whole seconds, or an instant on the service's own clock.
 * @returns null when it is absent or unreadable
 */
export function retryAfterMsOf(headers: HttpFault['headers'], now: EpochMs): DurationMs | null {
  const text = headers['retry-after'];
  if (text === undefined) return null;
  if (/^\d+$/.test(text.trim())) return Number(text) * 1_000;
  const at = parseHttpDate(text, now);
  return at === null ? null : Math.max(0, at - (serviceTimeOf(headers, now) ?? now));
}

/** The service's clock at an answer, from its `Date` header. */
export function serviceTimeOf(headers: HttpFault['headers'], now: EpochMs): EpochMs | null {
  return headers.date === undefined ? null : parseHttpDate(headers.date, now);
}

/** Statuses with which the service refuses before it looks at what we want, perhaps in a few bare words. */
const bareRefusals: readonly (number | undefined)[] = [403, 415];

/**
 * Whether an answer was written by something in between, such as a gateway's or a firewall's page: the service answers in
 * JSON, or says nothing (P13). A page names its type, so a refusal in bare words without one is the service's own.
 */
export function isPage({ isJson, status, headers }: HttpFault): boolean {
  if (isJson) return false;
  return !bareRefusals.includes(status) || headers['content-type'] !== undefined;
}

/**
 * A refused certificate in a person's words. An unknown authority and another name want a check of the config, or of who
 * sits in between; one that is out of date is the service's to repair, and passes.
 * @returns undefined when the fault is about anything else
 */
export function certificateFailureOf(fault: HttpFault, operation: string): ServiceFailure | undefined {
  const problem = certificateProblemOf(fault.cause);
  if (problem === undefined) return undefined;
  const words = `service's certificate ${certificateWords[problem]}. ${certificateAdvice[problem]}`;
  return problem === 'outOfDate'
    ? { kind: 'unavailable', sent: false, detail: `${operation}: the ${words}` }
    : { kind: 'misconfigured', detail: `The ${words}` };
}

const certificateAdvice: Readonly<Record<keyof typeof certificateWords, string>> = {
  unknownAuthority: "Set service.caFile to the authority's certificate (PEM).",
  otherName: 'Check the host in service.baseUrl, and who answers there.',
  outOfDate: 'Check the clock of this machine; otherwise the service must renew it.',
};
