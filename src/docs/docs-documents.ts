import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { escapeHtml } from '../base/safe-text.ts';
import { docsPath, docsUrl } from './docs-paths.ts';
import { guideHtml } from './guide-html.ts';
import { guideGroups } from './guide-list.ts';
import { type Guide, loadGuides } from './load-guides.ts';
import { searchIndex } from './search-index.ts';

/** An HTML document with the policy under which a browser shows it. */
export interface DocsDocument {
  readonly html: string;
  readonly contentSecurityPolicy: string;
}

// `src/` and `dist/` are side by side, so the relative path works from both.
const assets = new URL('../../dist/docs/page/', import.meta.url);

/**
 * Makes the documents under `/docs`. Only their own style and script run, by a nonce of each answer, and they load nothing
 * from outside. Guides are read when the first document is asked for.
 * @param style the colours of the page at `/`
 */
export function makeDocsDocuments({ version, style }: { readonly version: string; readonly style: string }) {
  const read = once(() => {
    const file = (name: string) => readFileSync(new URL(name, assets), 'utf8');
    const guides = loadGuides();
    return {
      guides,
      search: searchIndex(guides),
      html: new Map(guides.map((guide) => [guide.name, once(() => guideHtml(guide, guides))])),
      style: `${style}${file('docs.css')}`,
      script: file('docs.js'),
    };
  });
  const documentOf = (shown: { readonly title: string; readonly body: string; readonly locked?: true }) => {
    const nonce = randomBytes(18).toString('base64');
    return {
      html: frame({ ...shown, ...read(), version, nonce }),
      contentSecurityPolicy: policyFor(nonce),
    };
  };
  const list = (intro: string) => `<main tabindex="-1">${intro}${listHtml(read().guides)}</main>`;
  return {
    index: (): DocsDocument =>
      documentOf({ title: 'Guides', body: bodyOf(version, list('<h1>Guides</h1>')) }),
    /** Undefined when there is no such guide. */
    guide: (name: string): DocsDocument | undefined => {
      const { guides, html } = read();
      const guide = guides.find((each) => each.name === name);
      if (guide === undefined) return undefined;
      const main = `${menuHtml(guides, guide)}<main tabindex="-1">${html.get(name)?.()}</main>`;
      return documentOf({ title: guide.title, body: bodyOf(version, main) });
    },
    unknown: (name: string): DocsDocument => {
      const intro = `<h1>There is no guide ${escapeHtml(name)}</h1>`;
      return documentOf({ title: 'No such guide', body: bodyOf(version, list(intro)) });
    },
    /** Asks for a token and then shows the document that was asked for. It has no part of it. */
    locked: (): DocsDocument => documentOf({ title: 'Guides', body: signInHtml, locked: true }),
    search: () => read().search,
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
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
    // One place turns text into markup: the script that shows a document which needed a token.
    "require-trusted-types-for 'script'",
    'trusted-types docs',
  ].join('; ');
}

function frame(parts: {
  readonly title: string;
  readonly body: string;
  readonly locked?: true;
  readonly style: string;
  readonly script: string;
  readonly version: string;
  readonly nonce: string;
}): string {
  return `<!doctype html>
<html lang="en"${parts.locked ? ' data-locked' : ''}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(parts.title)} · upwave ${escapeHtml(parts.version)}</title>
<link rel="icon" href="data:,">
<style nonce="${parts.nonce}">${parts.style}</style>
</head>
<body>
${parts.body}
<script nonce="${parts.nonce}">${parts.script}</script>
</body>
</html>
`;
}

function bodyOf(version: string, main: string): string {
  return `<header class="top">
<p class="name"><a href="/">upwave</a> <a href="${docsPath}">guides</a> <small>${escapeHtml(version)}</small></p>
<div role="search">
<input type="search" id="search" placeholder="Search the guides ( / )" aria-label="Search the guides" autocomplete="off">
<div id="found" role="status" hidden></div>
</div>
</header>
<div class="frame">
${main}
</div>`;
}

const signInHtml = `<main class="sign-in">
<h1>This daemon requires a token</h1>
<noscript><p>This page needs JavaScript to send the token. <code>upwave help</code> shows the same guides.</p></noscript>
<form id="sign-in">
<label>Token <input type="password" id="token" autocomplete="off" required></label>
<button type="submit">Show the guide</button>
<p class="error" role="alert" id="why"></p>
</form>
</main>`;

/** All guides, and the headings of the one that is shown. */
function menuHtml(guides: readonly Guide[], shown: Guide): string {
  const groups = guideGroups.map(({ title, guides: listed }) => {
    const items = listed.map(({ name }) => {
      const link = `<a href="${docsUrl(name)}"${name === shown.name ? ' aria-current="page"' : ''}>${titleOf(guides, name)}</a>`;
      return `<li>${link}${name === shown.name ? contentsHtml(shown) : ''}</li>`;
    });
    return `<p>${title}</p><ul>${items.join('')}</ul>`;
  });
  return `<details class="menu" open><summary>Guides and contents</summary><nav aria-label="Guides">${groups.join('')}</nav></details>`;
}

// Deeper headings would make the list longer than a screen.
const contentsDepth = 2;

function contentsHtml({ sections }: Guide): string {
  const items = sections
    .filter(({ depth }) => depth === contentsDepth)
    .map(({ title, anchor }) => `<li><a href="#${escapeHtml(anchor)}">${escapeHtml(title)}</a></li>`);
  return items.length === 0 ? '' : `<ul>${items.join('')}</ul>`;
}

function listHtml(guides: readonly Guide[]): string {
  const groups = guideGroups.map(({ title, guides: listed }) => {
    const items = listed.map(
      ({ name, answers }) =>
        `<li><a href="${docsUrl(name)}">${titleOf(guides, name)}</a><br>${escapeHtml(answers)}</li>`,
    );
    return `<section><h2>${title}</h2><ul>${items.join('')}</ul></section>`;
  });
  return `<div class="groups">${groups.join('')}</div>`;
}

function titleOf(guides: readonly Guide[], name: string): string {
  return escapeHtml(guides.find((guide) => guide.name === name)?.title ?? name);
}
