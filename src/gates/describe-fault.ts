import { certificateProblemOf } from '../base/certificate-problem.ts';
import { HttpFault } from '../http/http-fault.ts';

/** Why no answer came, in the words of an operator. What we do not know is named by its class alone (P12). */
export function describeFault(error: unknown): string {
  if (!(error instanceof HttpFault)) {
    return `the question could not be put (${error instanceof Error ? error.name : typeof error})`;
  }
  switch (error.kind) {
    case 'connect':
      return certificateWords(error.cause) ?? describeConnect(codeOf(error.cause));
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

function certificateWords(cause: unknown): string | undefined {
  switch (certificateProblemOf(cause)) {
    case 'unknownAuthority':
      return "its certificate is signed by an authority that is not trusted here: set the gate's caFile";
    case 'otherName':
      return 'its certificate is for another host name';
    case 'outOfDate':
      return 'its certificate has expired, or is not valid yet';
    case undefined:
      return undefined;
  }
}

const connectWords: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'the host is not known',
  EAI_AGAIN: 'the host name could not be looked up',
  ETIMEDOUT: 'no connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
};

function describeConnect(code: string): string {
  return Object.hasOwn(connectWords, code) ? (connectWords[code] ?? '') : `no connection (${code})`;
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string'
    ? cause.code
    : 'no reason';
}
