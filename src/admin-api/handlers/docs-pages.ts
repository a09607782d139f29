import { z } from 'zod';
import { defineOperation } from '../../contract/operation.ts';
import type { DocsDocument, makeDocsDocuments } from '../../docs/docs-documents.ts';
import { docsPath, isDocsPath } from '../../docs/docs-paths.ts';
import {
  type HttpAnswer,
  type HttpRequest,
  type MountedOperation,
  mountOperations,
} from '../../http/operation-handlers.ts';

type DocsDocuments = ReturnType<typeof makeDocsDocuments>;

const source = 'DESIGN §5, HTTP: the guides of this version';
const answer = { status: 200, body: z.unknown() } as const;

const docsPages = [
  defineOperation({ name: 'listGuides', route: `GET ${docsPath}`, answer, source }),
  defineOperation({ name: 'getGuideSearch', route: `GET ${docsPath}/search.json`, answer, source }),
  defineOperation({
    ...{ name: 'getGuide', route: `GET ${docsPath}/{guide}`, answer, source },
    params: z.object({ guide: z.string() }),
  }),
] as const;

/** The guides as pages. */
export function mountDocs(docs: DocsDocuments): MountedOperation[] {
  return mountOperations(docsPages, {
    prefix: '',
    handlers: {
      listGuides: async () => asHtml(docs.index()),
      getGuideSearch: async () => ({ body: docs.search() }),
      getGuide: async ({ params: { guide } }) => {
        const found = docs.guide(guide);
        return found === undefined ? { ...asHtml(docs.unknown(guide)), status: 404 } : asHtml(found);
      },
    },
  });
}

/** A browser that follows a link sends no token. Instead of the refusal it gets a document that asks for one. */
export function lockedGuide(docs: DocsDocuments, request: HttpRequest, refusal: HttpAnswer): HttpAnswer {
  const { method, path, headers } = request;
  const isAsked = method === 'GET' && isDocsPath(path) && headers.authorization === undefined;
  if (!isAsked || refusal.status !== 401 || headers.accept?.includes('text/html') !== true) return refusal;
  const { headers: locked, body } = asHtml(docs.locked());
  return { ...refusal, headers: { ...refusal.headers, ...locked }, body };
}

function asHtml({ html, contentSecurityPolicy }: DocsDocument) {
  return {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': contentSecurityPolicy,
    },
    body: html,
  };
}
