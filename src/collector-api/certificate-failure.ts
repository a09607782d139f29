import { assertNever } from '../base/assert.ts';
import { certificateProblemOf, certificateWords } from '../base/certificate-problem.ts';
import type { HttpFault } from '../http/http-fault.ts';
import type { ServiceFailure } from '../rollout/failure-classes.ts';

/**
 * A refused certificate in a person's words. An unknown authority and another name want a look at the config, or at who
 * sits in between; one that is out of date is the service's to mend, and passes.
 * @returns undefined when the fault is about anything else
 */
export function certificateFailureOf(fault: HttpFault, operation: string): ServiceFailure | undefined {
  const problem = certificateProblemOf(fault.cause);
  if (problem === undefined) return undefined;
  const what = `service's certificate ${certificateWords[problem]}.`;
  switch (problem) {
    case 'unknownAuthority': {
      const detail = `The ${what} Set service.caFile to the authority's certificate (PEM).`;
      return { kind: 'misconfigured', detail };
    }
    case 'otherName': {
      const detail = `The ${what} Check the host in service.baseUrl, and who answers there.`;
      return { kind: 'misconfigured', detail };
    }
    case 'outOfDate': {
      const detail = `${operation}: the ${what} Check the clock of this machine; otherwise the service must renew it.`;
      return { kind: 'unavailable', sent: false, detail };
    }
    default:
      return assertNever(problem);
  }
}
