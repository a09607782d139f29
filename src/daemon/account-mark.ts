import { keyedHashHex } from '../base/hash.ts';
import type { ServiceConfig } from '../config/config.ts';
import type { RedisCommands } from '../redis/connection/connection.ts';
import { readInstallationKey } from '../redis/coordination/store-instance.ts';
import type { AccountMark } from '../rollout/model/account.ts';

// Of 64: as good as unique among the access ids that an installation ever has.
const hashDigits = 32;

/**
 * Makes the reading of what a rollout of this config carries as its account. The path of the base URL is left out: a
 * deployment has a host of its own, and `https://host` and `https://host/api` lead to the same one. The service draws
 * access ids at random, so two accounts behind two paths of one gateway still have two marks.
 */
export function makeReadAccountMark(of: {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
  readonly service: Pick<ServiceConfig, 'baseUrl' | 'accessId'>;
}): () => Promise<AccountMark> {
  const { origin } = new URL(of.service.baseUrl);
  return async () => {
    const key = await readInstallationKey(of);
    return { origin, accessIdHash: keyedHashHex(key, of.service.accessId.reveal(), hashDigits) };
  };
}
