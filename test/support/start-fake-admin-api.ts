import { type AdminApiParts, type RunningAdminApi, startAdminApi } from '../../src/admin-api/admin-api.ts';
import { startedAt } from './builders.ts';

/** The API of a healthy daemon on a free port, without a daemon behind it. Its clock does not advance. */
export function startFakeAdminApi(
  operations: AdminApiParts['operations'],
  parts: Partial<AdminApiParts> = {},
): Promise<RunningAdminApi> {
  return startAdminApi({
    host: '127.0.0.1',
    port: 0,
    token: undefined,
    tokens: [],
    trustedProxy: undefined,
    docs: 'token',
    operations,
    connections: null,
    isUnavailable: () => false,
    metrics: { expose: async () => ({ contentType: 'text/plain', body: '' }) },
    readiness: async () => ({ redis: { ok: true, reason: 'answers' } }),
    version: '0.1.0',
    clock: { now: () => startedAt },
    reportError: () => {},
    ...parts,
  });
}
