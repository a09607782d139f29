import { isIP } from 'node:net';

/** True when only this machine answers at this host. @param host without the brackets of an IPv6 address */
export function isLoopback(host: string): boolean {
  if (host.toLowerCase() === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
