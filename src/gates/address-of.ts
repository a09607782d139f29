import { Secret } from '../base/secret.ts';
import type { GatePlace } from '../rollout/model/policy.ts';
import { type Missing, type ReadFile, readGateFile } from './read-gate-file.ts';

/** The URL at which a gate asks; what is secret in one that comes from a file. */
export type GateAddress =
  | { readonly ok: true; readonly value: URL; readonly secrets: readonly Secret[] }
  | Missing;

/** Finds where a gate asks: in its rule, or in the file that the rule names. @throws the signal's reason */
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

/** Shorter parts of a path are words, not secrets. */
const partLengthMin = 6;

/** What was asked may repeat the URL as a whole, or any part of it that could be a credential. */
function secretsIn({ href, pathname, search, searchParams }: URL): readonly Secret[] {
  const parts = pathname.split('/').filter((part) => part.length >= partLengthMin);
  const values = [...searchParams.values(), ...search.slice(1).split(/[&=]/)];
  const long = values.filter((value) => value.length >= partLengthMin);
  return [href, `${pathname}${search}`, ...parts, ...long]
    .filter((text) => text.length >= partLengthMin)
    .map((text) => new Secret(text));
}

/** Reads a gate's URL. The words never repeat it, since one that is wrong may hold a password (P12). */
function parseGateUrl(text: string): { readonly ok: true; readonly value: URL } | Missing {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    return { ok: false, detail: 'the URL is not an http or https URL' };
  }
  if (url.username !== '' || url.password !== '') {
    return { ok: false, detail: 'the URL carries credentials: use a token file' };
  }
  return { ok: true, value: url };
}
