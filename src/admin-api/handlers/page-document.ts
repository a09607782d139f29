import { readFileSync } from 'node:fs';
import { hashHex } from '../../base/hash.ts';
import { chartStyle } from '../../rollout/charts/chart-style.ts';
import { assetsPath } from '../access/access.ts';

// `src/` and `dist/` are side by side, so the relative path works from both.
const folder = new URL('../../../dist/admin-api/page/', import.meta.url);

const hashDigits = 16;

/** A file that the page loads. Its name has a hash of its content, so browsers may keep it for ever. */
interface PageAsset {
  readonly contentType: string;
  readonly text: string;
}

/**
 * Reads the page at `/`: the document, and its assets by name. The script inserts all varying values as text; the document
 * itself contains no value from outside.
 * @throws when the page is not built (`npm run build`)
 */
export function loadPage(version: string) {
  const read = (name: string) => readFileSync(new URL(name, folder), 'utf8');
  const assets = new Map<string, PageAsset>();
  const add = (name: string, contentType: string, text: string): string => {
    const [stem, extension] = name.split('.');
    const named = `${stem}-${hashHex(text, hashDigits)}.${extension}`;
    assets.set(named, { contentType, text });
    return `${assetsPath}/${named}`;
  };
  const html = fill(read('page.html'), {
    version,
    style: add('page.css', 'text/css; charset=utf-8', `${chartStyle}${read('page.css')}`),
    script: add('page.js', 'text/javascript; charset=utf-8', read('page.js')),
  });
  return { html, etag: `W/"${hashHex(html, hashDigits)}"`, assets };
}

function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{\{(\w+)\}\}/g, (place, name: string) => values[name] ?? place);
}

/** Only the page's own style and script run. No other answer of the daemon is one: browsers do not sniff (`nosniff`). */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  // The page never turns text into markup.
  "require-trusted-types-for 'script'",
].join('; ');
