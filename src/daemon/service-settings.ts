import type { ServiceClientParts } from '../collector-api/wire/service-client.ts';
import type { ServiceConfig } from '../config/config.ts';

/** What the config says about the service, as its client wants it. */
export function clientSettings(
  service: ServiceConfig,
): Omit<ServiceClientParts, 'budget' | 'clock' | 'keyMemory' | 'observer'> {
  return {
    baseUrl: service.baseUrl,
    accessId: service.accessId.reveal(),
    accessKey: service.accessKey.reveal(),
    ca: service.ca,
    allowedHosts: service.allowedHosts,
    requestTimeoutMs: service.requestTimeoutMs,
    connectionsMax: serviceSocketsMax(service),
    random: Math.random,
  };
}

/** More sockets than requests allowed at once: a grant never waits for a socket. */
export function serviceSocketsMax({ concurrentRequests }: Pick<ServiceConfig, 'concurrentRequests'>): number {
  return Math.ceil(concurrentRequests * 1.6);
}

/** Our share of the service's rate limit (DESIGN §4); the rest is left for other tools of the same user. */
export function ourRequestsPerSecond(
  service: Pick<ServiceConfig, 'requestsPerSecond' | 'budgetShare'>,
): number {
  return service.requestsPerSecond * service.budgetShare;
}
