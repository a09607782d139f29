/** Host and port as in a URL: an IPv6 address is in brackets. */
export function writeAddress({ host, port }: { readonly host: string; readonly port: number }): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** True for an http or https URL that has only scheme, address and path, so it holds no credential (P12). */
export function isPlainHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return ['http:', 'https:'].includes(protocol) && `${username}${password}${search}${hash}` === '';
}

/** The value that HTTP Basic sends for a user name and a password. It is as secret as the password (P12). */
export function basicToken(user: { readonly name: string; readonly password: string }): string {
  return Buffer.from(`${user.name}:${user.password}`, 'utf8').toString('base64');
}
