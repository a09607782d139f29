type GateUrl = { readonly ok: true; readonly value: URL } | { readonly ok: false; readonly detail: string };

/** Reads a gate's URL. The words never repeat it, since one that is wrong may hold a password (P12). */
export function parseGateUrl(text: string): GateUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    return { ok: false, detail: 'the URL is no http or https URL' };
  }
  if (url.username !== '' || url.password !== '') {
    return { ok: false, detail: 'the URL carries credentials: use a token file' };
  }
  return { ok: true, value: url };
}
