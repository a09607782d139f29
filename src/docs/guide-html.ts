import { parser, Renderer, type Tokens } from 'marked';
import { escapeHtml } from '../base/safe-text.ts';
import { docsUrl } from './docs-paths.ts';
import { type Guide, linkTarget, pictureUrl, type Section, termOf } from './load-guides.ts';

/** A guide as HTML. Each heading is a link to itself. HTML in a guide is left out. */
export function guideHtml(guide: Guide, guides: readonly Guide[]): string {
  const renderer = new GuideRenderer(guide, guides);
  const render = (section: Section): string => {
    renderer.section = section;
    return headingHtml(section) + parser([...section.body], { renderer });
  };
  return guide.sections.map(render).join('\n');
}

function headingHtml({ title, anchor, depth }: Section): string {
  const words = escapeHtml(title);
  if (depth === 1) return `<h1>${words}</h1>\n`;
  return `<h${depth} id="${escapeHtml(anchor)}"><a href="#${escapeHtml(anchor)}">${words}</a></h${depth}>\n`;
}

/** The library's renderer, except for links, pictures, entries of references, and what may be wider than a phone. */
class GuideRenderer extends Renderer {
  /** The one that is rendered now. */
  section: Section | undefined;
  readonly #guide: Guide;
  readonly #guides: readonly Guide[];

  constructor(guide: Guide, guides: readonly Guide[]) {
    super();
    this.#guide = guide;
    this.#guides = guides;
  }

  override html(): string {
    return '';
  }

  // A keyboard scrolls only what it can reach.
  override code({ text }: Tokens.Code): string {
    return `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`;
  }

  override table(token: Tokens.Table): string {
    return `<div class="scroll" tabindex="0">${super.table(token)}</div>\n`;
  }

  override listitem(item: Tokens.ListItem): string {
    const term = this.section === undefined ? undefined : termOf(this.#guide, this.section, item);
    const html = super.listitem(item);
    return term === undefined ? html : html.replace('<li>', `<li id="${escapeHtml(term.anchor)}">`);
  }

  override image({ href, text }: Tokens.Image): string {
    return `<img src="${pictureUrl(href)}" alt="${escapeHtml(text)}">`;
  }

  override link({ href, tokens, text }: Tokens.Link): string {
    const target = linkTarget(href, this.#guide, this.#guides);
    const words = this.parser.parseInline(tokens);
    switch (target.kind) {
      case 'outside':
        return `<a href="${escapeHtml(target.url)}" rel="noreferrer">${words}</a>`;
      case 'file':
        return fileHtml(target.path, text, words);
      case 'guide':
        return `<a href="${escapeHtml(docsUrl(target.guide.name, target.section?.anchor))}">${words}</a>`;
    }
  }
}

/** The daemon does not serve the file, so its path replaces the link. */
function fileHtml(path: string, text: string, words: string): string {
  const shown = `<code>${escapeHtml(path)}</code>`;
  return path.includes(text.replace(/\/$/, '')) ? shown : `${words} (${shown})`;
}
