import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chartStyle } from '../../rollout/charts/chart-style.ts';

// `src/` and `dist/` are side by side, so the relative path works from both.
const assets = new URL('../../../dist/admin-api/page/', import.meta.url);

/**
 * Reads the files of the page at `/`, and returns a function that makes the document. The script inserts all varying values as
 * text; the document itself contains no value from outside. By the content security policy only the page's own style and
 * script run, by a nonce of this answer.
 * @throws when the page is not built (`npm run build`)
 */
export function loadPage(version: string) {
  const read = (name: string) => readFileSync(new URL(name, assets), 'utf8');
  const parts = { version, style: `${chartStyle}${read('page.css')}`, script: read('page.js') };
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
    // The page never turns text into markup.
    "require-trusted-types-for 'script'",
  ].join('; ');
}
