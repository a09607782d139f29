import { readFile } from 'node:fs/promises';
import { runInNewContext } from 'node:vm';

/** As the build has made it. */
const script = new URL('../../dist/admin-api/page/page.js', import.meta.url);

/** The requests of a page that have no whole answer yet. */
class OpenRequests {
  private open = 0;

  readonly fetch: typeof fetch = async (url, options) => {
    const answer = await this.counted(fetch(url, options));
    return new Proxy(answer, {
      get: (target, name) =>
        name === 'json' ? () => this.counted(target.json()) : Reflect.get(target, name, target),
    });
  };

  async ended(): Promise<void> {
    do await new Promise((resolve) => setImmediate(resolve));
    while (this.open > 0);
  }

  private async counted<Answer>(promise: Promise<Answer>): Promise<Answer> {
    this.open += 1;
    // What follows an answer has its turn before that answer no longer counts.
    return promise.finally(() => setImmediate(() => (this.open -= 1)));
  }
}

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

  private readonly requests: OpenRequests;

  constructor(tag: string, requests: OpenRequests) {
    this.tag = tag;
    this.requests = requests;
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

  /** What a user does; resolves when the page waits for nothing more. */
  async dispatch(name: string): Promise<void> {
    this.listeners.get(name)?.({ preventDefault: () => {} });
    await this.requests.ended();
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
  const requests = new OpenRequests();
  const body = new FakeElement('body', requests);
  const byId = (id: string) => {
    const element = ids.get(id) ?? new FakeElement(id, requests);
    ids.set(id, element);
    return element;
  };
  const document = {
    documentElement: { dataset: { api: apiUrl } },
    getElementById: byId,
    createElement: (tag: string) => new FakeElement(tag, requests),
    querySelectorAll: () => [],
    addEventListener: () => {},
    activeElement: null,
    hidden: false,
    body,
    title: '',
  };
  const program = await readFile(script, 'utf8');
  // The page waits for its next poll once it has shown what is.
  await new Promise<void>((resolve) => {
    runInNewContext(program, {
      document,
      fetch: requests.fetch,
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
