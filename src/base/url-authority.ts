/** Host and port as a URL has them: an IPv6 address in brackets. */
export function writeAddress({ host, port }: { readonly host: string; readonly port: number }): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Whether a text is an http or https URL of scheme, address and path alone: it holds no credential (P12). */
export function isPlainHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return ['http:', 'https:'].includes(protocol) && `${username}${password}${search}${hash}` === '';
}

/** The value that HTTP Basic sends for a user name and a password. It is as secret as the password itself (P12). */
export function basicToken(user: { readonly name: string; readonly password: string }): string {
  return Buffer.from(`${user.name}:${user.password}`, 'utf8').toString('base64');
}
