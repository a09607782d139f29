import type { Policy } from '../../rollout/model/policy.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { followConfig, withPresentBrakes } from '../../rollout/reload/follow-config.ts';
import type { FollowedConfig } from '../../rollout/reload/policy-difference.ts';
import { type ChangeRolloutParts, stopRollout } from '../records/change-rollout.ts';
import type { Configs } from './configs.ts';

export interface FollowConfigsParts extends ChangeRolloutParts {
  readonly configs: Pick<Configs, 'word' | 'beat'>;
  /** The policies of the present config: one list, which a reload changes. */
  readonly rollouts: readonly Policy[];
}

/**
 * Brings the brakes of the present config to the running rollouts: after a reload, at start, and with each beat, so
 * that a daemon which was away brings them, too. The record keeps them, so that every daemon acts alike. When it returns, no
 * create leaves any more that only the former brakes allowed.
 */
export async function followConfigs(
  parts: FollowConfigsParts,
  by: string,
): Promise<readonly FollowedConfig[]> {
  const all: FollowedConfig[] = [];
  for (const policy of parts.rollouts.map(({ name }) => name)) {
    for (const rolloutId of await parts.store.activeRolloutIds([policy])) {
      const followed = await followRollout(parts, { policy, rolloutId, by });
      if (followed !== undefined) all.push(followed);
    }
  }
  return all;
}

/**
 * The same for one rollout, which may be over and about to run again.
 * @returns undefined where this daemon's config says nothing about it
 */
export async function followRollout(
  parts: FollowConfigsParts,
  { policy, rolloutId, by }: { readonly policy: string; readonly rolloutId: string; readonly by: string },
): Promise<FollowedConfig | undefined> {
  let followed: FollowedConfig['followed'] = [];
  // Again until the record shows it: whoever was suspended on the way had nothing to say any more.
  for (;;) {
    const before = await parts.store.loadRollout(rolloutId);
    const config = parts.rollouts.find(({ name }) => name === policy);
    if (before === undefined || config === undefined) return undefined;
    // Of another account, its policy is another one that has the same name (P5).
    const account = await parts.accounts?.statusOf(before);
    if (account !== undefined && account.kind !== 'own') return undefined;
    const present = withPresentBrakes(before, config);
    // Asked once more now that the record is read: a daemon says that it has a newer config before it writes by it.
    if (present.followed.length > 0) await parts.configs.beat();
    if (parts.configs.word(policy) === undefined) return undefined;
    // Asked again for each reading of the record and with the present config, which may have changed meanwhile.
    const judge = (rollout: Rollout) => {
      const word = parts.configs.word(policy);
      const now = parts.rollouts.find(({ name }) => name === policy);
      if (word === undefined || now === undefined) return undefined;
      const isTakenUp = word.isTakenUp && rollout.config?.generation === before.config?.generation;
      return followConfig(rollout, { config: now, word: { ...word, isTakenUp }, at: parts.clock.now() });
    };
    if (judge(before) === undefined) return { rollout: rolloutId, followed, waiting: present.waiting };
    await stopRollout(parts, rolloutId, by, (view) => judge(view.rollout));
    followed = present.followed;
  }
}
