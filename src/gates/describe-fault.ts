import { describeCertificateProblem } from '../base/certificate-problem.ts';
import { errorCodeOf } from '../base/error-code.ts';
import { HttpFault } from '../http/http-fault.ts';

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
      return 'the answer is no HTTP';
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
