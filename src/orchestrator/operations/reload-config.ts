import type { EpochMs } from '../../base/time.ts';
import type { FollowedConfig, ReloadChanges } from '../../contract/admin/reload.ts';
import type { VerbBody } from '../../contract/admin/verb-body.ts';
import {
  configText,
  reloadText,
  removedPolicyText,
  settingsText,
} from '../../rollout/messages/config-texts.ts';
import { isForeign } from '../../rollout/model/account.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { withCurrentLimits } from '../../rollout/reload/follow-config.ts';
import { compareConfigs } from '../../rollout/reload/policy-difference.ts';
import type { Configs } from '../configs/configs.ts';
import { type FollowConfigsParts, followConfigs } from '../configs/follow-configs.ts';
import type { NamedConfig } from '../ports/config-register.ts';

/** A valid config that was read again. */
export interface NextConfig {
  readonly rollouts: readonly Policy[];
  readonly own: readonly NamedConfig[];
  /** Keys outside of `rollouts` that this reload changes. Without values, which may be secrets (P12). */
  readonly settings: readonly string[];
  /** Keys outside of `rollouts` that differ from the values in use, and need a restart. */
  readonly needsRestart: readonly string[];
}

/** The source of the config, and its users. */
export interface ConfigSource<Next extends NextConfig = NextConfig> {
  /** `wrong`: the reason lists every mistake with its line. */
  read():
    | { readonly kind: 'read'; readonly next: Next }
    | { readonly kind: 'wrong'; readonly reason: string };
  /** Makes the whole process use this config. */
  use(next: Next): void;
}

export type ReloadResult =
  | ({ readonly kind: 'reloaded' | 'unchanged' } & ReloadChanges)
  /** The file has mistakes: nothing has changed. */
  | { readonly kind: 'refused'; readonly reason: string };

/** What a reload would do now. Nothing has changed. */
export type ReloadPreviewResult =
  /** `configs`: hashes of the policies in the file. */
  | ({ readonly kind: 'shown'; readonly configs: readonly NamedConfig[] } & ReloadChanges)
  | { readonly kind: 'refused'; readonly reason: string };

/** The result of the last reading of the config. */
export interface ReloadStatus {
  readonly at: EpochMs;
  /** The mistakes in the file; undefined: none. */
  readonly problem?: string;
}

export interface ReloadParts<Next extends NextConfig = NextConfig> extends FollowConfigsParts {
  readonly configs: Configs;
  readonly source: ConfigSource<Next>;
}

/** Reads the config again, all or nothing. One reload runs at a time. */
export function makeReload<Next extends NextConfig>(
  parts: ReloadParts<Next>,
): {
  readonly reload: (request: VerbBody) => Promise<ReloadResult>;
  readonly previewReload: () => Promise<ReloadPreviewResult>;
  readonly status: () => ReloadStatus;
} {
  let status: ReloadStatus = { at: parts.clock.now() };
  let last: Promise<unknown> = Promise.resolve();
  const reloadOnce = async ({ by, reason }: VerbBody): Promise<ReloadResult> => {
    const read = parts.source.read();
    const at = parts.clock.now();
    if (read.kind === 'wrong') {
      status = { at, problem: read.reason };
      parts.sink.note({ event: 'config.refused', by, reason: read.reason });
      return { kind: 'refused', reason: read.reason };
    }
    const { next } = read;
    status = { at };
    const policies = compareConfigs(parts.rollouts(), next.rollouts);
    const { settings, needsRestart } = next;
    const isUnchanged = [policies, settings, needsRestart].every((changed) => changed.length === 0);
    parts.source.use(next);
    parts.configs.replace(next.own);
    const words = `${reloadText({ policies, settings, needsRestart })}${reason === '' ? '' : `; ${reason}`}`;
    parts.sink.note({ event: 'config.reloaded', by, at, reason: words });
    if (!isUnchanged)
      await parts.register.audit({ event: 'config.reloaded', subject: 'config', by, at, reason: words });
    await parts.configs.beat();
    const rollouts = await followConfigs(parts, by);
    const difference = parts.configs.settings();
    return {
      kind: isUnchanged ? 'unchanged' : 'reloaded',
      policies,
      settings,
      needsRestart,
      rollouts,
      warnings: [
        ...(await warnOfOrphans(parts, policies)),
        ...[...parts.configs.statuses()].flatMap(([policy, each]) => configText(policy, each) ?? []),
        ...(difference === undefined ? [] : [settingsText(difference)]),
      ],
    };
  };
  return {
    reload: (request) => {
      const reload = last.then(() => reloadOnce(request));
      last = reload.catch(() => undefined);
      return reload;
    },
    previewReload: () => previewReload(parts),
    status: () => status,
  };
}

/** What a reload would change, and for which rollouts. It reads the file and the records, and writes nothing. */
async function previewReload<Next extends NextConfig>(
  parts: ReloadParts<Next>,
): Promise<ReloadPreviewResult> {
  const read = parts.source.read();
  if (read.kind === 'wrong') return { kind: 'refused', reason: read.reason };
  const { rollouts, settings, needsRestart, own: configs } = read.next;
  const policies = compareConfigs(parts.rollouts(), rollouts);
  const warnings = await warnOfOrphans(parts, policies);
  const followed: FollowedConfig[] = [];
  for (const policy of rollouts) {
    for (const id of await parts.store.activeRolloutIds([policy.name])) {
      const rollout = await parts.store.loadRollout(id);
      if (rollout === undefined || rollout.unreadable !== undefined) continue;
      const account = await parts.accounts.statusOf(rollout);
      if (isForeign(account)) continue;
      const current = withCurrentLimits(rollout, policy);
      followed.push({ rollout: id, followed: current.followed, waiting: current.waiting });
    }
  }
  return { kind: 'shown', policies, settings, needsRestart, rollouts: followed, warnings, configs };
}

/** A sentence for each running rollout whose policy is no longer in the config. */
async function warnOfOrphans(
  { store }: Pick<FollowConfigsParts, 'store'>,
  policies: ReloadChanges['policies'],
): Promise<readonly string[]> {
  const removed = policies.flatMap(({ kind, policy }) => (kind === 'removed' ? [policy] : []));
  return (await store.activeRolloutIds(removed)).map(removedPolicyText);
}
