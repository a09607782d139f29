import { toPrintable } from '../../base/safe-text.ts';

/**
 * The escape sequences that may reach a terminal: the colours of `paint`. Names of collectors come from machines, and may
 * contain any other sequence.
 */
const esc = '\u001b';
const ours = new RegExp(`(${esc}\\[(?:[012]|22|39|3[0-7]|9[0-7])m|[\n\t])`, 'u');

/** Wraps a stream: it escapes control sequences that are not ours, and replaces secrets. */
export interface SafeStream {
  readonly stream: NodeJS.WritableStream;
  /** From now on these texts are shown as `***`. */
  addSecrets(secrets: readonly string[]): void;
}

export function makeSafeStream(raw: NodeJS.WritableStream & { readonly isTTY?: boolean }): SafeStream {
  const known = new Set<string>();
  const isLive = raw.isTTY === true;
  const clean = (text: string) => redact(cleanText(text, isLive), known);
  const write = (chunk: string | Uint8Array, ...rest: unknown[]) =>
    Reflect.apply(raw.write, raw, [
      clean(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()),
      ...rest,
    ]);
  const stream = new Proxy(raw, {
    get: (target, key) => {
      if (key === 'write') return write;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return {
    stream,
    addSecrets: (secrets) => {
      for (const secret of secrets) known.add(secret);
    },
  };
}

function cleanText(text: string, isLive: boolean): string {
  // `split` with a group puts the separators at the odd indexes.
  const isKept = (part: string) => isLive || part === '\n' || part === '\t';
  return text
    .split(ours)
    .map((part, at) => (at % 2 === 1 && isKept(part) ? part : toPrintable(part)))
    .join('');
}

function redact(text: string, secrets: ReadonlySet<string>): string {
  let clean = text;
  for (const secret of secrets) clean = clean.replaceAll(secret, '***');
  return clean;
}
