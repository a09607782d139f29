/** What HTTP Basic sends for a user name and a password: as secret as the password itself (P12). */
export function basicToken(user: { readonly name: string; readonly password: string }): string {
  return Buffer.from(`${user.name}:${user.password}`, 'utf8').toString('base64');
}
