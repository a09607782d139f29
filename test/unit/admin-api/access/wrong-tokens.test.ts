import { describe, expect, it } from 'vitest';
import { remoteNetwork, withoutMapping } from '../../../../src/admin-api/access/remote-network.ts';
import { makeWrongTokens } from '../../../../src/admin-api/access/wrong-tokens.ts';

describe('wrong tokens', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
  ])('of %s count for %s', (address, network) => {
    expect(remoteNetwork(address)).toBe(network);
  });

  it('does not mistake other texts for an IPv4 address', () => {
    expect(withoutMapping('::ffff:1')).toBe('::ffff:1');
  });

  it('are counted over a whole IPv6 network, where each guess may come from another address', () => {
    const tokens = makeWrongTokens({ now: () => 0 });
    for (let guess = 0; guess < 20; guess += 1) tokens.count(`2001:db8:1:2::${guess.toString(16)}`);
    expect(tokens.refusedForMs('2001:db8:1:2:ffff::1')).toBe(60_000);
    expect(tokens.refusedForMs('2001:db8:1:3::1')).toBe(0);
  });
});
