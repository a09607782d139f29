import { keyedHashHex } from '../base/hash.ts';
import type { ServiceConfig } from '../config/config.ts';
import type { RedisCommands } from '../redis/connection/connection.ts';
import { readInstallationKey } from '../redis/coordination/store-instance.ts';
import type { AccountMark } from '../rollout/model/account.ts';

// Of 64 digits: enough to be unique among the access ids of an installation.
const hashDigits = 32;

/**
 * Makes a function that reads the account mark which rollouts of this config carry. The path of the base URL is left
 * out: a deployment has its own host, and `https://host` and `https://host/api` lead to the same one. Access ids are
 * random, so two accounts behind two paths of one gateway still have two marks.
 */
export function makeReadAccountMark(parts: {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
  readonly service: Pick<ServiceConfig, 'baseUrl' | 'accessId'>;
}): () => Promise<AccountMark> {
  const { origin } = new URL(parts.service.baseUrl);
  return async () => {
    const key = await readInstallationKey(parts);
    return { origin, accessIdHash: keyedHashHex(key, parts.service.accessId.reveal(), hashDigits) };
  };
}
