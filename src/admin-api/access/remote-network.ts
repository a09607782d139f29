import { isIPv6 } from 'node:net';

const groupsOfNetwork = 4;

/**
 * Whom an address belongs to, as far as it shows: an IPv4 address is one customer's, while with IPv6 each has a network
 * of 2^64 addresses to speak from.
 */
export function remoteNetwork(address: string): string {
  const plain = withoutMapping(address).replace(/%.*$/, '');
  if (!isIPv6(plain)) return plain;
  // `::` stands for as many groups of zeros as are missing, and at most once.
  const [before = '', after = ''] = plain.split('::');
  const given = [before, after].map((part) => part.split(':').filter((group) => group !== ''));
  const [head = [], tail = []] = given;
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0');
  const groups = [...head, ...zeros, ...tail].slice(0, groupsOfNetwork);
  return `${groups.map((group) => group.toLowerCase().replace(/^0+(?=.)/, '')).join(':')}::/64`;
}

/** An IPv4 address that is written inside an IPv6 one, as a server for both sees it, as what it is. */
export function withoutMapping(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
