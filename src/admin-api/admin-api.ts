import { assertNever } from '../base/assert.ts';
import type { Clock } from '../base/time.ts';
import { adminApi, adminApiPath } from '../contract/admin/api.ts';
import { makeDocsDocuments } from '../docs/docs-documents.ts';
import type { ConnectionLimits } from '../http/limit-connections.ts';
import {
  type HttpAnswer,
  type HttpRequest,
  type MountedOperation,
  mountOperations,
  type RequestFailure,
} from '../http/operation-handlers.ts';
import { startHttpServer } from '../http/server.ts';
import { chartStyle } from '../rollout/charts/chart-style.ts';
import { makeAccess, makeMayRead } from './access/access.ts';
import { AdminFault, faultAnswer, noResourceText } from './access/admin-fault.ts';
import { type Caller, type CallersParts, makeCallers } from './access/identify-callers.ts';
import { type AskOperationsParts, makeAskOperations } from './handlers/ask-operations.ts';
import { type DaemonPagesParts, mountDaemonPages } from './handlers/daemon-pages.ts';
import { lockedGuide, mountDocs } from './handlers/docs-pages.ts';
import { makeHoldHandlers } from './handlers/hold-handlers.ts';
import { makeLiveStream } from './handlers/live-stream.ts';
import { makeConfigHandlers, makePolicyHandlers, readPolicies } from './handlers/policy-handlers.ts';
import { makeRolloutHandlers } from './handlers/rollout-handlers.ts';

export interface AdminApiParts
  extends AskOperationsParts,
    CallersParts,
    Omit<DaemonPagesParts, 'mayRead' | 'stream'> {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly clock: Clock;
  /** How many connections may be open; null: as many as there are descriptors. */
  readonly connections: ConnectionLimits | null;
  /** Reports errors that are bugs of ours. The client learns only that there was one. */
  readonly reportError: (error: unknown) => void;
}

export interface RunningAdminApi {
  /** `http://127.0.0.1:9464` */
  readonly url: string;
  /** Replaces the known callers. Open streams end, and a page with a valid token opens a new one. */
  replaceCallers(callers: CallersParts): void;
  close(): Promise<void>;
}

/** A body holds at most a reason, a name and a subject. */
const bodyBytesMax = 16 * 1024;

/** Serves health, metrics, the API of the operator and the page (DESIGN §5, HTTP). @throws when it can't listen */
export async function startAdminApi(parts: AdminApiParts): Promise<RunningAdminApi> {
  const callers = makeCallers(parts);
  const access = makeAccess({ callers, clock: parts.clock });
  const callerOf = new WeakMap<HttpRequest, Caller>();
  const ask = makeAskOperations(parts);
  const docs = makeDocsDocuments({ version: parts.version, style: chartStyle });
  const stream = makeLiveStream(ask, () => readPolicies(ask), parts.clock);
  const server = await startHttpServer({
    host: parts.host,
    port: parts.port,
    bodyBytesMax,
    connections: parts.connections,
    compresses: true,
    operations: [
      ...mountDaemonPages({ ...parts, stream, mayRead: makeMayRead(callers) }),
      ...mountDocs(docs),
      ...mountOperations(adminApi, {
        prefix: adminApiPath,
        handlers: {
          ...makeRolloutHandlers(ask),
          ...makeHoldHandlers(ask),
          ...makePolicyHandlers(ask),
          ...makeConfigHandlers(ask),
          whoAmI: async (_input, request) => ({ body: callerOf.get(request) ?? nobody }),
        },
      }).map((mounted) => inTheNameOf(mounted, callerOf)),
    ],
    around: async (request, next) => {
      const judged = access(request);
      if ('refusal' in judged) return withSecurityHeaders(lockedGuide(docs, request, judged.refusal));
      callerOf.set(request, judged.caller);
      return withSecurityHeaders(await next());
    },
    answerFailure: (failure) => answerFailure(failure, parts.reportError),
  });
  const close = async (): Promise<void> => {
    stream.close();
    await server.close();
  };
  const replaceCallers = (next: CallersParts): void => {
    callers.replace(next);
    stream.endAll();
  };
  return { url: server.url, replaceCallers, close };
}

const nobody: Caller = { name: null, role: 'operator' };

/** A verb runs under the name of the token or of the proxy's user, whatever name the request gives. */
function inTheNameOf(mounted: MountedOperation, callers: WeakMap<HttpRequest, Caller>): MountedOperation {
  return {
    ...mounted,
    handle: (input, request) => {
      const name = callers.get(request)?.name ?? null;
      const { body } = input;
      if (name === null || typeof body !== 'object' || body === null) return mounted.handle(input, request);
      return mounted.handle({ ...input, body: { ...body, by: name } }, request);
    },
  };
}

/** Headers that restrict what a browser may do with our answers. The page has a policy of its own. */
const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

function withSecurityHeaders(answer: HttpAnswer): HttpAnswer {
  return { ...answer, headers: { ...securityHeaders, ...answer.headers } };
}

function answerFailure(failure: RequestFailure, reportError: (error: unknown) => void): HttpAnswer {
  switch (failure.kind) {
    case 'unknownRoute':
      return faultAnswer('notFound', noResourceText);
    case 'wrongMethod':
      return faultAnswer('methodNotAllowed', `only ${failure.allowed.join(', ')} here`, {
        allow: failure.allowed.join(', '),
      });
    case 'malformedUrl':
      return faultAnswer('invalid', 'the path cannot be read');
    case 'malformedJson':
      return faultAnswer('invalid', 'the body is not JSON');
    case 'bodyTooLarge':
      return faultAnswer('tooLarge', `a body has at most ${bodyBytesMax} bytes`);
    case 'unreadable':
      return faultAnswer('invalid', 'the request cannot be read');
    case 'invalidInput':
      return faultAnswer('invalid', describeIssues(failure));
    case 'handlerError': {
      const { error } = failure;
      if (error instanceof AdminFault) return faultAnswer(error.kind, error.message);
      reportError(error);
      return faultAnswer('internal', 'an internal error; see the log of the daemon');
    }
    default:
      return assertNever(failure);
  }
}

function describeIssues({ part, issues }: Extract<RequestFailure, { kind: 'invalidInput' }>): string {
  return issues.map(({ path, message }) => `${[part, ...path.map(String)].join('.')}: ${message}`).join('; ');
}
