import { keepLatest } from '../../base/keep-latest.ts';
import type { Clock, DurationMs, EpochMs } from '../../base/time.ts';
import { remoteNetwork } from './remote-network.ts';

/** A person mistypes a few times; a scraper with an old token asks four times a minute. A guesser asks more. */
const wrongTokensMax = 20;
const windowMs: DurationMs = 60_000;
/** What an attacker with many addresses can make us remember. */
const networksMax = 1_000;

/**
 * Counts wrong tokens by remote address, or its whole network with IPv6: who sends many has to wait. What keeps a
 * guesser out is the token's length, since the right one always passes.
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
    /** How long this address's next wrong token is answered with a wait; 0: the answer is that it is wrong. */
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
