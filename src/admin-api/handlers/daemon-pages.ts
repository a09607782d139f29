import { z } from 'zod';
import { AdminErrorBody, adminApi, adminApiPath } from '../../contract/admin/api.ts';
import { defineOperation } from '../../contract/operation.ts';
import { makeOpenApiDocument } from '../../http/openapi.ts';
import { type HttpRequest, type MountedOperation, mountOperations } from '../../http/operation-handlers.ts';
import { assetsPath, rolloutPagesPath } from '../access/access.ts';
import { AdminFault, adminFaultStatuses, noResourceText } from '../access/admin-fault.ts';
import type { LiveStream } from './live-stream.ts';
import { loadPage, pagePolicy } from './page-document.ts';
import { type Readiness, type ReadinessCheck, readReadiness } from './readiness.ts';

export interface DaemonPagesParts {
  readonly metrics: { expose(): Promise<{ readonly contentType: string; readonly body: string }> };
  readonly readiness: () => Promise<Readiness>;
  /** Whether the caller may read the state. Only then reasons are shown, because they name hosts. */
  readonly mayRead: (request: HttpRequest) => boolean;
  readonly stream: LiveStream;
  /** The version of this program. */
  readonly version: string;
}

const read = <const Name extends string>(name: Name, path: `/${string}`, source: string) =>
  defineOperation({
    name,
    route: `GET ${path}`,
    answer: { status: 200, body: z.unknown() },
    idempotent: true,
    source,
  });

const daemonPages = [
  read('getHealth', '/healthz', 'DESIGN §5, HTTP: the process is alive'),
  read('getReadiness', '/readyz', 'DESIGN §5, HTTP: it can work'),
  read('getMetrics', '/metrics', 'DESIGN §5, Metrics'),
  read('getOpenApi', `${adminApiPath}/openapi.json`, 'DESIGN §5, HTTP'),
  read('getStream', `${adminApiPath}/stream`, 'DESIGN §5, HTTP: the state, and each change of it'),
  read('getPage', '/', 'DESIGN §5, HTTP: shows it live'),
  defineOperation({
    name: 'getRolloutPage',
    route: `GET ${rolloutPagesPath}/{id}`,
    params: z.object({ id: z.string() }),
    answer: { status: 200, body: z.unknown() },
    idempotent: true,
    source: 'DESIGN §5, HTTP: the address of a rollout without its #',
  }),
  defineOperation({
    name: 'getAsset',
    route: `GET ${assetsPath}/{name}`,
    params: z.object({ name: z.string() }),
    answer: { status: 200, body: z.unknown() },
    idempotent: true,
    source: 'DESIGN §5, HTTP: style and script of the page',
  }),
] as const;

/** The endpoints beside the API: health, metrics, the OpenAPI document, the page. */
export function mountDaemonPages(parts: DaemonPagesParts): MountedOperation[] {
  const openApi = makeOpenApiDocument({
    title: 'upwave',
    version: parts.version,
    description:
      'What an operator of upwave can see and do. Verbs are safe to repeat. Every instant is a whole number of milliseconds since the UNIX epoch.',
    serverUrl: adminApiPath,
    operations: adminApi,
    errorBody: AdminErrorBody,
    errorStatuses: adminFaultStatuses,
    signIn: 'bearer',
  });
  const page = loadPage(parts.version);
  return mountOperations(daemonPages, {
    prefix: '',
    handlers: {
      getHealth: async () => ({ body: { alive: true, version: parts.version } }),
      getReadiness: async (_input, request) => {
        const checks = await readReadiness(parts.readiness);
        const ready = Object.values(checks).every(({ ok }) => ok);
        const visible = parts.mayRead(request) ? checks : withoutReasons(checks);
        return { status: ready ? 200 : 503, body: { ready, checks: visible } };
      },
      getMetrics: async () => {
        const { contentType, body } = await parts.metrics.expose();
        return { headers: { 'content-type': contentType }, body };
      },
      getOpenApi: async () => ({ body: openApi }),
      getStream: async () => ({
        headers: {
          'content-type': 'text/event-stream; charset=utf-8',
          // Some proxies buffer an answer before they pass it on.
          'x-accel-buffering': 'no',
        },
        body: parts.stream.open(),
      }),
      getPage: async (_input, { headers }) => {
        const cached = {
          // Browsers ask again each time, so the page is of the daemon's version after each reload.
          'cache-control': 'no-cache',
          etag: page.etag,
          // The headers of a 304 replace those of the kept document.
          'content-security-policy': pagePolicy,
        };
        if (headers['if-none-match'] === page.etag) return { status: 304, headers: cached, body: undefined };
        return { headers: { ...cached, 'content-type': 'text/html; charset=utf-8' }, body: page.html };
      },
      getRolloutPage: async ({ params: { id } }, { headers }) => {
        if (headers.accept?.includes('text/html') !== true) throw new AdminFault('notFound', noResourceText);
        // Relative, because a proxy may serve the page below a path.
        const location = `../#${rolloutPagesPath}/${encodeURIComponent(id)}`;
        return { status: 302, headers: { location }, body: undefined };
      },
      getAsset: async ({ params: { name } }) => {
        const asset = page.assets.get(name);
        if (asset === undefined) throw new AdminFault('notFound', `no asset ${name}; reload the page`);
        const kept = 'public, max-age=31536000, immutable';
        return { headers: { 'content-type': asset.contentType, 'cache-control': kept }, body: asset.text };
      },
    },
  });
}

function withoutReasons(checks: Readiness): Readonly<Record<string, Omit<ReadinessCheck, 'reason'>>> {
  const withoutReason = ({ ok, kind, since }: ReadinessCheck) => ({
    ok,
    ...(kind !== undefined && { kind }),
    ...(since !== undefined && { since }),
  });
  return Object.fromEntries(Object.entries(checks).map(([name, check]) => [name, withoutReason(check)]));
}
