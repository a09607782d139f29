import type { FollowedConfig } from '../../contract/admin/reload.ts';
import { isForeign } from '../../rollout/model/account.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import type { Rollout, RolloutView } from '../../rollout/model/rollout.ts';
import { followConfig, withCurrentCaps, withCurrentLimits } from '../../rollout/reload/follow-config.ts';
import { type StopRolloutParts, stopRollout } from '../records/change-rollout.ts';
import type { Configs } from './configs.ts';

export interface FollowConfigsParts extends StopRolloutParts {
  readonly configs: Pick<Configs, 'versionOf' | 'beat'>;
  /** The policies of the current config. */
  readonly rollouts: () => readonly Policy[];
}

/**
 * Applies the limits of the current config to the running rollouts: after a reload, at start, and with each beat, so that a
 * suspended daemon catches up. The record keeps the limits, because all daemons have to act alike. When this returns, no
 * further create is sent that only the former limits allowed.
 */
export async function followConfigs(
  parts: FollowConfigsParts,
  by: string,
): Promise<readonly FollowedConfig[]> {
  const all: FollowedConfig[] = [];
  for (const policy of parts.rollouts().map(({ name }) => name)) {
    for (const rolloutId of await parts.store.activeRolloutIds([policy])) {
      const followed = await followRollout(parts, { policy, rolloutId, by });
      if (followed !== undefined) all.push(followed);
    }
  }
  return all;
}

/** A view of a rollout with the limits that it would get now, such as of an ended one that may be reopened. Nothing is stored. */
export async function asFollowed<View extends Pick<RolloutView, 'rollout' | 'groups'>>(
  parts: Pick<FollowConfigsParts, 'accounts' | 'configs' | 'rollouts' | 'clock'>,
  view: View,
): Promise<View> {
  const { rollout, groups } = view;
  const config = parts.rollouts().find(({ name }) => name === rollout.policy.name);
  const version = parts.configs.versionOf(rollout.policy.name);
  if (config === undefined || version === undefined) return view;
  if (isForeign(await parts.accounts.statusOf(rollout))) return view;
  const fact = followConfig(rollout, { config, version, at: parts.clock.now() });
  if (fact === undefined) return view;
  const { policy } = fact;
  return { ...view, rollout: { ...rollout, policy }, groups: withCurrentCaps(groups, policy) };
}

/**
 * Applies the limits of the current config to one rollout, which may also be an ended one that is about to be reopened.
 * @returns undefined if this daemon's config must not set its limits
 */
export async function followRollout(
  parts: FollowConfigsParts,
  { policy, rolloutId, by }: { readonly policy: string; readonly rolloutId: string; readonly by: string },
): Promise<FollowedConfig | undefined> {
  let followed: FollowedConfig['followed'] = [];
  // Repeated until the record has the limits. A daemon that was suspended meanwhile may no longer set them.
  for (;;) {
    const before = await parts.store.loadRollout(rolloutId);
    const config = parts.rollouts().find(({ name }) => name === policy);
    if (before === undefined || config === undefined) return undefined;
    // In another account, the policy of this name is a different one (P5).
    const account = await parts.accounts.statusOf(before);
    if (isForeign(account)) return undefined;
    const current = withCurrentLimits(before, config);
    // Checked again after the record was read: a daemon reports a newer config before it writes by it.
    if (current.followed.length > 0) await parts.configs.beat();
    if (parts.configs.versionOf(policy) === undefined) return undefined;
    // Checked again at each reading of the record, with the current config, which may have changed meanwhile.
    const factFor = (rollout: Rollout) => {
      const version = parts.configs.versionOf(policy);
      const now = parts.rollouts().find(({ name }) => name === policy);
      if (version === undefined || now === undefined) return undefined;
      const isReinstated = version.isReinstated && rollout.config.generation === before.config.generation;
      return followConfig(rollout, {
        config: now,
        version: { ...version, isReinstated },
        at: parts.clock.now(),
      });
    };
    if (factFor(before) === undefined) return { rollout: rolloutId, followed, waiting: current.waiting };
    await stopRollout(parts, rolloutId, by, (view) => factFor(view.rollout));
    followed = current.followed;
  }
}
