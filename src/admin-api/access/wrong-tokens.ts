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
export interface WrongTokens {
  /** How long this address's next wrong token is answered with a wait; 0: the answer is that it is wrong. */
  refusedForMs(address: string): DurationMs;
  count(address: string): void;
}

export function makeWrongTokens(clock: Clock): WrongTokens {
  const tries = new Map<string, { count: number; readonly until: EpochMs }>();
  const current = (network: string) => {
    const entry = tries.get(network);
    if (entry === undefined || entry.until > clock.now()) return entry;
    tries.delete(network);
    return undefined;
  };
  return {
    refusedForMs: (address) => {
      const entry = current(remoteNetwork(address));
      return entry !== undefined && entry.count >= wrongTokensMax ? entry.until - clock.now() : 0;
    },
    count: (address) => {
      const network = remoteNetwork(address);
      const entry = current(network);
      if (entry !== undefined) {
        entry.count += 1;
        return;
      }
      // A map keeps the order of insertion, so the first one is the oldest.
      const oldest = tries.size >= networksMax ? tries.keys().next().value : undefined;
      if (oldest !== undefined) tries.delete(oldest);
      tries.set(network, { count: 1, until: clock.now() + windowMs });
    },
  };
}
