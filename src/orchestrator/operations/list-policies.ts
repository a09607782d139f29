import type { Clock, EpochMs } from '../../base/time.ts';
import type { PolicyStatuses } from '../../contract/admin/policies.ts';
import { settingsText } from '../../rollout/messages/config-texts.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { isRolloutEnd } from '../../rollout/model/rollout.ts';
import { parseRolloutId } from '../../rollout/model/rollout-id.ts';
import { followConfig, withCurrentLimits } from '../../rollout/reload/follow-config.ts';
import type { Configs } from '../configs/configs.ts';
import { type FindOrphansParts, findOrphans } from '../configs/find-orphans.ts';
import {
  lastGoodScan,
  latestScan,
  type ScanBook,
  type ScanEntry,
  type ScanForecast,
} from '../ports/scan-book.ts';

export interface ListPoliciesParts extends FindOrphansParts {
  /** The name of the account in the config; undefined: the only one. */
  readonly accountName: string | undefined;
  readonly clock: Clock;
  readonly scans: Pick<ScanBook, 'read'>;
  /** Names of all policies of the config. */
  readonly policies: () => readonly string[];
  readonly forecast: ScanForecast;
  readonly configs: Pick<Configs, 'statuses' | 'versionOf' | 'living' | 'settings'>;
  /** The policies of the config. */
  readonly rollouts: () => readonly Policy[];
}

/** Lists for each policy the last scan, its result and the next scan; also rollouts without a policy. */
export async function listPolicies(parts: ListPoliciesParts): Promise<PolicyStatuses> {
  const [entries, active, orphans, superseded] = await Promise.all([
    parts.scans.read(),
    parts.store
      .activeRolloutIds(parts.policies())
      .then((ids) => new Set(ids.map((id) => parseRolloutId(id).policy))),
    findOrphans(parts).then((found) => found.filter(({ state }) => !isRolloutEnd(state))),
    findSuperseded(parts),
  ]);
  const difference = parts.configs.settings();
  return {
    orphans,
    ...(difference !== undefined && { configDifference: settingsText(difference) }),
    policies: parts.policies().map((policy) => {
      const own = entries.filter((entry) => entry.policy === policy);
      const last = latestScan(own);
      return {
        policy,
        ...(parts.accountName !== undefined && { accountName: parts.accountName }),
        lastScan: last === undefined ? null : { at: last.at, outcome: last.outcome, reason: last.reason },
        ...(last?.needs !== undefined && !active.has(policy) && { needs: last.needs }),
        lastGoodAt: lastGoodScan(own)?.at ?? null,
        nextScanAt: nextScanAt(parts, policy, last),
        config: superseded.has(policy)
          ? { kind: 'superseded', others: 0 }
          : (parts.configs.statuses().get(policy) ?? { kind: 'agreed', others: 0 }),
      };
    }),
  };
}

function nextScanAt(
  { clock, forecast }: ListPoliciesParts,
  policy: string,
  { againAt }: Pick<ScanEntry, 'againAt'> = {},
): EpochMs | null {
  // A past instant means that the scan is running now, or was lost with its queue.
  if (againAt !== undefined && againAt > clock.now()) return againAt;
  return forecast(policy, 1)[0] ?? null;
}

/** Policies whose running rollout has the limits of a newer config that no running daemon has. No daemon may revert them. */
async function findSuperseded({
  rollouts,
  configs,
  store,
  clock,
}: ListPoliciesParts): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const config of rollouts()) {
    const version = configs.versionOf(config.name);
    if (version === undefined || version.isReinstated) continue;
    for (const id of await store.activeRolloutIds([config.name])) {
      const rollout = await store.loadRollout(id);
      if (rollout === undefined || withCurrentLimits(rollout, config).followed.length === 0) continue;
      if (followConfig(rollout, { config, version, at: clock.now() }) === undefined) found.add(config.name);
    }
  }
  return found;
}
