/** Host and port as a URL has them: an IPv6 address in brackets. */
export function writeAddress({ host, port }: { readonly host: string; readonly port: number }): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
