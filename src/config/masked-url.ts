/** What stands where a secret was. */
export const mask = '***';

/**
 * A URL without what it may hold as a credential (P12): the password, or a user name that stands alone, and the values
 * of its query. A path to a socket stays as it is.
 */
export function maskedUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.password !== '') url.password = mask;
  else if (url.username !== '') url.username = mask;
  for (const name of new Set(url.searchParams.keys())) url.searchParams.set(name, mask);
  return url.href;
}
