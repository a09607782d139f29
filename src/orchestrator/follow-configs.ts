import type { Policy } from '../rollout/policy.ts';
import type { PolicyDifference } from '../rollout/policy-difference.ts';
import { followConfig, withPresentBrakes } from '../rollout/present-brakes.ts';
import { type ChangeRolloutParts, stopRollout } from './change-rollout.ts';
import type { Configs } from './configs.ts';

export interface FollowConfigsParts extends ChangeRolloutParts {
  readonly configs: Pick<Configs, 'word'>;
  /** The policies of the present config. */
  readonly rollouts: readonly Policy[];
}

/** How a rollout on its way stands to the present config. */
export interface FollowedConfig {
  readonly rollout: string;
  /** Changed by this call, and in force when it returns. */
  readonly followed: readonly PolicyDifference[];
  /** Left to the next rollout. */
  readonly waiting: readonly PolicyDifference[];
}

/**
 * Brings the brakes of the present config to the rollouts on their way: after a reload, at start, and with each beat, so
 * that a daemon which was away brings them, too. The record keeps them, so that every daemon acts alike. When it returns, no
 * create leaves any more that only the former brakes allowed.
 */
export async function followConfigs(
  parts: FollowConfigsParts,
  by: string,
): Promise<readonly FollowedConfig[]> {
  const all: FollowedConfig[] = [];
  for (const config of parts.rollouts) {
    if (parts.configs.word(config.name) === undefined) continue;
    for (const rolloutId of await parts.store.activeRolloutIds([config.name])) {
      const before = await parts.store.loadRollout(rolloutId);
      if (before === undefined) continue;
      // Of another account, its policy is another one that has the same name (P5).
      const account = await parts.accounts?.standingOf(before);
      if (account !== undefined && account.kind !== 'own') continue;
      // Asked anew for each reading of the record, which may have changed while this daemon was suspended.
      const judge = (rollout: typeof before) => {
        const word = parts.configs.word(config.name);
        return word && followConfig(rollout, { config, word, at: parts.clock.now() });
      };
      const { followed, waiting } = withPresentBrakes(before, config);
      const isChanged = judge(before) !== undefined;
      if (isChanged) await stopRollout(parts, rolloutId, by, (view) => judge(view.rollout));
      all.push({ rollout: rolloutId, followed: isChanged ? followed : [], waiting });
    }
  }
  return all;
}
