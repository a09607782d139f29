import type { ServiceClientParts } from '../collector-api/wire/service-client.ts';
import type { ServiceConfig } from '../config/config.ts';

/** The service's config, as the client's parts. */
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

/** More sockets than concurrent requests, so that a request with its grant never waits for a socket. */
export function serviceSocketsMax({ concurrentRequests }: Pick<ServiceConfig, 'concurrentRequests'>): number {
  return Math.ceil(concurrentRequests * 1.6);
}

/** upwave's share of the service's rate limit (DESIGN §4). Other tools of the same user have the rest. */
export function ourRequestsPerSecond(
  service: Pick<ServiceConfig, 'requestsPerSecond' | 'budgetShare'>,
): number {
  return service.requestsPerSecond * service.budgetShare;
}
