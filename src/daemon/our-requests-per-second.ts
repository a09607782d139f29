import type { ServiceConfig } from '../config/config.ts';

/** Our share of the service's rate limit (DESIGN §4); the rest is left for other tools of the same user. */
export function ourRequestsPerSecond(
  service: Pick<ServiceConfig, 'requestsPerSecond' | 'budgetShare'>,
): number {
  return service.requestsPerSecond * service.budgetShare;
}
