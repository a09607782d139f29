import type { Accounts } from './accounts.ts';
import type { Configs } from './configs.ts';
import type { RolloutStore } from './ports/rollout-store.ts';

export interface GiveWayParts {
  readonly store: Pick<RolloutStore, 'activeRolloutIds'>;
  /** Names of all policies of the config. */
  readonly policies: readonly string[];
  readonly accounts: Pick<Accounts, 'foreign' | 'forgetEnded'>;
  readonly configs: Pick<Configs, 'living'>;
}

/**
 * Whether rollouts on their way need another daemon that lives as their leader: one of another account, or with a policy
 * that the config of this daemon does not have. All daemons share one lease, so leaders of such rollouts take turns.
 */
export async function isWaitedFor({ store, policies, accounts, configs }: GiveWayParts): Promise<boolean> {
  const { account, others } = configs.living();
  await accounts.forgetEnded();
  if (accounts.foreign().length > 0 && others.some((each) => each.account !== account)) return true;
  const known = new Set(policies);
  const names = others.flatMap((each) => each.configs.map(({ policy }) => policy));
  const unknown = [...new Set(names)].filter((name) => !known.has(name));
  return unknown.length > 0 && (await store.activeRolloutIds(unknown)).length > 0;
}
