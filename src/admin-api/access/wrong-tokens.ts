import { keepLatest } from '../../base/keep-latest.ts';
import type { Clock, DurationMs, EpochMs } from '../../base/time.ts';
import { remoteNetwork } from './remote-network.ts';

/** A person mistypes a few times, and a scraper with an old token sends four requests a minute. An attacker sends more. */
const wrongTokensMax = 20;
const windowMs: DurationMs = 60_000;
/** The bound on what an attacker with many addresses can make us store. */
const networksMax = 1_000;

/**
 * Counts wrong tokens by remote address, or by network with IPv6. A client with many wrong tokens has to wait. The length
 * of the token keeps attackers out, because a valid token always passes.
 */
export function makeWrongTokens(clock: Clock) {
  const tries = new Map<string, { count: number; readonly until: EpochMs }>();
  const current = (network: string) => {
    const entry = tries.get(network);
    if (entry === undefined || entry.until > clock.now()) return entry;
    tries.delete(network);
    return undefined;
  };
  return {
    /** How long this address has to wait before its next wrong token is checked; 0: no wait. */
    refusedForMs: (address: string): DurationMs => {
      const entry = current(remoteNetwork(address));
      return entry !== undefined && entry.count >= wrongTokensMax ? entry.until - clock.now() : 0;
    },
    count: (address: string): void => {
      const network = remoteNetwork(address);
      const entry = current(network);
      if (entry === undefined)
        keepLatest(tries, network, { count: 1, until: clock.now() + windowMs }, networksMax);
      else entry.count += 1;
    },
  };
}
