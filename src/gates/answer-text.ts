import { describeCertificateProblem, errorCodeOf } from '../base/node-errors.ts';
import { cutText, toOneLine } from '../base/safe-text.ts';
import { echoedForms, type Secret } from '../base/secret.ts';
import { HttpFault } from '../http/fault.ts';

/** Why no answer came, in the words of an operator. What we do not know is named by its class alone (P12). */
export function describeFault(error: unknown): string {
  if (!(error instanceof HttpFault)) {
    return `the question could not be put (${error instanceof Error ? error.name : typeof error})`;
  }
  switch (error.kind) {
    case 'connect':
      return describeCertificateProblem(error.cause, "the gate's caFile") ?? describeConnect(error.cause);
    case 'timeout':
      return 'no complete answer in time';
    case 'reset':
      return 'the connection broke before the answer was complete';
    case 'aborted':
      return 'the question was given up';
    case 'tooLarge':
      return 'the answer is larger than 1 MB';
    default:
      return 'the answer is not HTTP';
  }
}

const connectWords: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'the host is not known',
  EAI_AGAIN: 'the host name could not be looked up',
  ETIMEDOUT: 'no connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
};

function describeConnect(cause: unknown): string {
  const code = errorCodeOf(cause) ?? 'no reason';
  return Object.hasOwn(connectWords, code) ? (connectWords[code] ?? '') : `no connection (${code})`;
}

/** Why a status is no answer to a gate's question; undefined for a 2xx. */
export function refusal(status: number): string | undefined {
  if (status >= 200 && status <= 299) return undefined;
  if (status >= 300 && status <= 399)
    return `answered ${status}: no redirect is followed, give the right URL`;
  return `answered ${status}`;
}

/** Makes words of others fit to be shown: in one line, bounded, and without secrets (P12). */
export type Say = (text: string) => string;

const lengthMax = 200;

/** Makes a `Say` for one question; the one who was asked may repeat its token, and where it was asked. */
export function makeSay(secrets: readonly Secret[]): Say {
  const forms = echoedForms(secrets.map((secret) => secret.reveal()));
  return (text) => {
    const line = forms.reduce((rest, form) => rest.replaceAll(form, '***'), toOneLine(text));
    // Secrets went before: half of one would be left at the end.
    return cutText(line, lengthMax);
  };
}
