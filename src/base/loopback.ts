import { BlockList, isIP } from 'node:net';

const addresses = new BlockList();
addresses.addSubnet('127.0.0.0', 8, 'ipv4');
addresses.addAddress('::1', 'ipv6');

/** True for an address of this machine that no other machine can reach. It also knows IPv4 in IPv6 form. */
export function isLoopbackAddress(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && addresses.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** The same for a host, which may be a name, or an IPv6 address in the brackets of a URL. */
export function isLoopbackHost(host: string): boolean {
  return host.toLowerCase() === 'localhost' || isLoopbackAddress(host.replace(/^\[(.*)\]$/, '$1'));
}
