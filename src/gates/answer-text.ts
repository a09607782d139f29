import { describeCertificateProblem, errorCodeOf } from '../base/node-errors.ts';
import { cutText, toOneLine } from '../base/safe-text.ts';
import { echoedForms, type Secret } from '../base/secret.ts';
import { ProxyError } from '../http/connections.ts';
import { HttpFault } from '../http/fault.ts';

/** Describes for an operator why no response came. An unknown error is named by its class only (P12). */
export function describeFault(error: unknown): string {
  if (!(error instanceof HttpFault)) {
    return `the request could not be sent (${error instanceof Error ? error.name : typeof error})`;
  }
  switch (error.kind) {
    case 'connect':
      if (error.cause instanceof ProxyError) return error.problem;
      return describeCertificateProblem(error.cause, "the gate's caFile") ?? describeConnect(error.cause);
    case 'timeout':
      return 'no complete response in time';
    case 'reset':
      return 'the connection broke before the response was complete';
    case 'aborted':
      return 'the request was cancelled';
    case 'tooLarge':
      return 'the response is larger than 1 MB';
    default:
      return 'the response is not HTTP';
  }
}

const connectText: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'the host name could not be resolved',
  ETIMEDOUT: 'connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
};

function describeConnect(cause: unknown): string {
  const code = errorCodeOf(cause) ?? 'unknown error';
  return Object.hasOwn(connectText, code) ? (connectText[code] ?? '') : `no connection (${code})`;
}

/** Describes a status that is no result of a probe; undefined for a 2xx. */
export function statusProblem(status: number): string | undefined {
  if (status >= 200 && status <= 299) return undefined;
  if (status >= 300 && status <= 399)
    return `answered ${status}: redirects are not followed, set the final URL`;
  return `answered ${status}`;
}

/** Makes foreign text safe to show: on one line, of limited length, and without secrets (P12). */
export type SafeText = (text: string) => string;

const lengthMax = 200;

/** Makes a `SafeText` for one request. The server may repeat the gate's token and URL. */
export function makeSafeText(secrets: readonly Secret[]): SafeText {
  const forms = echoedForms(secrets.map((secret) => secret.reveal()));
  return (text) => {
    const line = forms.reduce((rest, form) => rest.replaceAll(form, '***'), toOneLine(text));
    // Secrets are removed first, so that no part of one remains at the end.
    return cutText(line, lengthMax);
  };
}
