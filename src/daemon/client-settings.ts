import type { ServiceClientParts } from '../collector-api/service-client.ts';
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
