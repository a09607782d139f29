import { certificateProblemOf } from '../base/certificate-problem.ts';
import type { HttpFault } from '../http/http-fault.ts';
import type { ServiceFailure } from '../rollout/failure-classes.ts';

/**
 * A refused certificate in a person's words. An unknown authority and another name want a look at the config, or at who
 * sits in between; one that is out of date is the service's to mend, and passes.
 * @returns undefined when the fault is about anything else
 */
export function certificateFailureOf(fault: HttpFault, operation: string): ServiceFailure | undefined {
  switch (certificateProblemOf(fault.cause)) {
    case 'unknownAuthority':
      return {
        kind: 'misconfigured',
        detail:
          "The service's certificate is signed by an authority that is not trusted here. Set service.caFile to the authority's certificate (PEM).",
      };
    case 'otherName':
      return {
        kind: 'misconfigured',
        detail:
          "The service's certificate is for another host name. Check the host in service.baseUrl, and who answers there.",
      };
    case 'outOfDate':
      return {
        kind: 'unavailable',
        sent: false,
        detail: `${operation}: the service's certificate has expired, or is not valid yet. Check the clock of this machine; otherwise the service must renew it.`,
      };
    case undefined:
      return undefined;
  }
}
