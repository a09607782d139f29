import { invariant } from '../base/assert.ts';
import type { Policy } from '../rollout/model/policy.ts';
import type { AccountConfig, Config } from './config.ts';
import { nameInAccount } from './schema/accounts-schema.ts';

/** A policy in the form of the file: for one account, or for several. */
export type WrittenPolicy = Policy & { readonly account?: string; readonly accounts?: readonly string[] };

/** A policy of one account; null: the account of `service`. */
export interface PlacedPolicy {
  readonly policy: Policy;
  readonly account: string | null;
}

/**
 * Gives each policy its account. A policy of several accounts becomes one policy for each, called `<policy>-<account>`.
 * @param only the account of policies that name none; null for that of `service`
 */
export function placePolicies(
  written: readonly WrittenPolicy[],
  only: string | null,
): readonly PlacedPolicy[] {
  return written.flatMap(({ account, accounts, ...policy }): PlacedPolicy[] =>
    accounts === undefined
      ? [{ policy, account: account ?? only }]
      : accounts.map((each) => ({
          policy: { ...policy, name: nameInAccount(policy.name, each) },
          account: each,
        })),
  );
}

/** The daemon's config for each account, in the order of the file. */
export function accountConfigsOf(config: Config): readonly AccountConfig[] {
  const { service, accounts, ...common } = config;
  if (accounts === undefined) return [{ service, ...common }];
  return accounts.map(({ name, service: own, keyPrefix, policies }) => ({
    account: name,
    service: own,
    ...common,
    ...(keyPrefix !== undefined && { accountKeyPrefix: keyPrefix }),
    rollouts: common.rollouts.filter((policy) => policies.includes(policy.name)),
  }));
}

/** The account of one policy of the config. */
export function accountConfigOf(config: Config, policy: string): AccountConfig {
  const found = accountConfigsOf(config).find(({ rollouts }) => rollouts.some(({ name }) => name === policy));
  invariant(found !== undefined, 'every policy of a config has an account');
  return found;
}

/** The prefix of all keys of an account. */
export function accountKeyPrefix(
  { account, accountKeyPrefix: own }: Pick<AccountConfig, 'account' | 'accountKeyPrefix'>,
  keyPrefix: string,
): string {
  return account === undefined ? keyPrefix : (own ?? `${keyPrefix}:${account}`);
}
