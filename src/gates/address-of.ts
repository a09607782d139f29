import { Secret } from '../base/secret.ts';
import type { GatePlace } from '../rollout/model/policy.ts';
import { type Missing, type ReadFile, readGateFile } from './read-gate-file.ts';

/** The URL of a gate, with its secrets when it comes from a file. */
export type GateAddress =
  | { readonly ok: true; readonly value: URL; readonly secrets: readonly Secret[] }
  | Missing;

/** Finds the URL of a gate: in its rule, or in the file that the rule names. @throws the signal's reason */
export async function addressOf(gate: GatePlace, read: ReadFile, signal: AbortSignal): Promise<GateAddress> {
  if ('url' in gate) {
    const url = parseGateUrl(gate.url);
    return url.ok ? { ...url, secrets: [] } : url;
  }
  const found = await readGateFile({ path: gate.urlFile, what: 'URL' }, read, signal);
  if (!found.ok) return found;
  const url = parseGateUrl(found.value.reveal());
  return url.ok ? { ...url, secrets: secretsIn(url.value) } : url;
}

/** Shorter parts are words, not secrets. */
const partLengthMin = 6;

/** Everything in the URL that could be a credential. The server may repeat the whole URL, or any part of it. */
function secretsIn({ href, pathname, search, searchParams }: URL): readonly Secret[] {
  const values = [...searchParams.values(), ...search.slice(1).split(/[&=]/)];
  return [href, `${pathname}${search}`, ...pathname.split('/'), ...values]
    .filter((text) => text.length >= partLengthMin)
    .map((text) => new Secret(text));
}

/** Parses a gate's URL. The message never repeats it, because an invalid one may contain a password (P12). */
function parseGateUrl(text: string): { readonly ok: true; readonly value: URL } | Missing {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    return { ok: false, detail: 'the URL is not an http or https URL' };
  }
  if (url.username !== '' || url.password !== '') {
    return { ok: false, detail: 'the URL contains credentials: use a token file' };
  }
  return { ok: true, value: url };
}
