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
    // More sockets than requests allowed at once: a grant never waits for a socket.
    connectionsMax: Math.ceil(service.concurrentRequests * 1.6),
    random: Math.random,
  };
}
