import { runInNewContext } from 'node:vm';
import { pageScript } from '../../src/admin-api/page/script.ts';

/** As much of a browser's element as the page uses. */
export class FakeElement {
  readonly tag: string;
  readonly attributes = new Map<string, string>();
  readonly style: Record<string, string> = {};
  children: (FakeElement | string)[] = [];
  className = '';
  hidden = false;
  disabled = false;
  value = '';
  private readonly listeners = new Map<string, (event: object) => unknown>();

  constructor(tag: string) {
    this.tag = tag;
  }

  get textContent(): string {
    return this.children.map((child) => (typeof child === 'string' ? child : child.textContent)).join('');
  }

  set textContent(text: string) {
    this.children = [text];
  }

  append(...children: (FakeElement | string)[]): void {
    this.children.push(...children);
  }

  replaceChildren(...children: (FakeElement | string)[]): void {
    this.children = children;
  }

  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value);
  }

  getAttribute(name: string): string | null {
    return this.attributes.get(name) ?? null;
  }

  addEventListener(name: string, listener: (event: object) => unknown): void {
    this.listeners.set(name, listener);
  }

  /** What a user does; resolves when the page has done its part. */
  async dispatch(name: string): Promise<void> {
    await this.listeners.get(name)?.({ preventDefault: () => {} });
  }

  remove(): void {}
  focus(): void {}
  showModal(): void {}
  close(): void {}

  /** This element and all below it, in the order of the document. */
  all(): FakeElement[] {
    return [this, ...this.children.flatMap((child) => (typeof child === 'string' ? [] : child.all()))];
  }
}

export interface FakePage {
  /** Of the document, as a browser's tab shows it. */
  readonly title: () => string;
  readonly byId: (id: string) => FakeElement;
  readonly body: FakeElement;
  button(text: string): FakeElement;
}

/** Runs the page's program against a real API, until it has shown what that tells. */
export async function openFakePage(apiUrl: string): Promise<FakePage> {
  const ids = new Map<string, FakeElement>();
  const body = new FakeElement('body');
  const byId = (id: string) => {
    const element = ids.get(id) ?? new FakeElement(id);
    ids.set(id, element);
    return element;
  };
  const document = {
    documentElement: { dataset: { api: apiUrl } },
    getElementById: byId,
    createElement: (tag: string) => new FakeElement(tag),
    querySelectorAll: () => [],
    addEventListener: () => {},
    activeElement: null,
    hidden: false,
    body,
    title: '',
  };
  // The page waits for its next poll once it has shown what is.
  await new Promise<void>((resolve) => {
    runInNewContext(pageScript, {
      document,
      fetch,
      AbortSignal,
      sessionStorage: { getItem: () => null, setItem: () => {}, removeItem: () => {} },
      setTimeout: () => resolve(),
      clearTimeout: () => {},
    });
  });
  return {
    title: () => document.title,
    byId,
    body,
    button: (text) => {
      const shown = [...byId('rollouts').all(), ...byId('policy-rows').all(), ...body.all()];
      const found = shown.findLast((element) => element.tag === 'button' && element.textContent === text);
      if (found === undefined) throw new Error(`no button ${text}`);
      return found;
    },
  };
}
