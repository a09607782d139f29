import { type BlockList, isIP, isIPv6 } from 'node:net';

const groupsOfNetwork = 4;

/**
 * The owner of an address, as far as it shows. An IPv4 address belongs to one customer, while an IPv6 customer has a network
 * of 2^64 addresses.
 */
export function remoteNetwork(address: string): string {
  const plain = withoutMapping(address).replace(/%.*$/, '');
  if (!isIPv6(plain)) return plain;
  // `::` stands for as many groups of zeros as are missing, and at most once.
  const [before = '', after = ''] = plain.split('::');
  const halves = [before, after].map((part) => part.split(':').filter((group) => group !== ''));
  const [head = [], tail = []] = halves;
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0');
  const groups = [...head, ...zeros, ...tail].slice(0, groupsOfNetwork);
  return `${groups.map((group) => group.toLowerCase().replace(/^0+(?=.)/, '')).join(':')}::/64`;
}

/** True when a list contains an address. */
export function isListed(list: BlockList, address: string): boolean {
  const plain = withoutMapping(address);
  const family = isIP(plain);
  return family !== 0 && list.check(plain, family === 4 ? 'ipv4' : 'ipv6');
}

/** Unwraps an IPv4-mapped IPv6 address, as a dual-stack server sees IPv4 clients. */
export function withoutMapping(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
