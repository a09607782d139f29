import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The page at `/`: one document that fetches nothing but our own API. */
export interface PageDocument {
  readonly html: string;
  /** Lets only this page's own style and script run, by a nonce of this one answer. */
  readonly contentSecurityPolicy: string;
}

// `src/` and `dist/` stand side by side, so the built files are found from either.
const assets = new URL('../../../dist/admin-api/page/', import.meta.url);

/**
 * Reads the page's files, and returns what makes a document of them. Everything that varies is put in by the script as
 * text; the document itself holds no value from outside.
 * @throws when the page is not built (`npm run build`)
 */
export function loadPage(version: string): () => PageDocument {
  const read = (name: string) => readFileSync(new URL(name, assets), 'utf8');
  const parts = { version, style: read('page.css'), script: read('page.js') };
  const template = read('page.html');
  return () => {
    const nonce = randomBytes(18).toString('base64');
    return { html: fill(template, { ...parts, nonce }), contentSecurityPolicy: policyFor(nonce) };
  };
}

function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{\{(\w+)\}\}/g, (place, name: string) => values[name] ?? place);
}

function policyFor(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    // The page makes no markup of texts.
    "require-trusted-types-for 'script'",
  ].join('; ');
}
