import type { Fence } from '../../orchestrator/ports/leader.ts';
import type { RolloutStore, UpgradeChange } from '../../orchestrator/ports/rollout-store.ts';
import type { CapDomain } from '../../rollout/model/plan-groups.ts';
import { parseRolloutId } from '../../rollout/model/rollout-id.ts';
import { runScript } from '../connection/script.ts';
import { countFreshIntentsScript, dropStrayRetriesScript, writeUpgradesScript } from './scripts.ts';
import type { StoreContext } from './store-context.ts';
import { encodeChange } from './upgrade-index.ts';

/** Changes upgrades. Each write is one script, with the guard of its kind. */
export function makeUpgradeWrites(store: StoreContext) {
  const { commands, version, nextMark, ofPolicy, ofRollout } = store;
  return {
    rejoin: async (rolloutId, changes, rolloutRev) =>
      savedOf(changes, await write(rolloutId, { mode: 'rejoin', rolloutRev }, changes)),

    admit: async ({ rolloutId, rolloutRev, slots, domains, changes }, fence) => {
      if (changes.length === 0) return [];
      const guard = { mode: 'admit', rolloutRev, slotsMax: slots, fence } as const;
      const withCaps = changes.map((change) => ({ ...change, domains }));
      return savedOf(changes, await write(rolloutId, guard, withCaps));
    },

    saveUpgrades: async (rolloutId, changes, guard) => {
      if (changes.length === 0) return [];
      return savedOf(changes, await write(rolloutId, { mode: 'save', ...guard }, changes));
    },

    saveIntent: async (change, rolloutRev) => {
      const guard = { mode: 'intent', rolloutRev } as const;
      const [verdict] = await write(change.after.identity.rolloutId, guard, [change]);
      return verdict ?? 'stale';
    },

    dropStrayRetries: async (rolloutId, retries) => {
      const members = retries.map(({ collectorId, lane }) => ({
        id: String(collectorId),
        lane: String(lane),
      }));
      await runScript(commands, dropStrayRetriesScript, {
        keys: ofRollout(rolloutId).keys,
        args: { members },
      });
    },

    countFreshIntents: (rolloutId, withinMs) =>
      runScript(commands, countFreshIntentsScript, { keys: ofRollout(rolloutId).keys, args: { withinMs } }),
  } satisfies Partial<RolloutStore>;

  function write(
    rolloutId: string,
    guard: {
      readonly mode: 'save' | 'admit' | 'intent' | 'rejoin';
      readonly rolloutRev?: number;
      readonly slotsMax?: number;
      readonly fence?: Fence;
    },
    changes: ReadonlyArray<
      UpgradeChange & { readonly domains?: readonly CapDomain[]; readonly brakeAbove?: number | null }
    >,
  ): Promise<readonly Verdict[]> {
    const { fence } = ofPolicy(parseRolloutId(rolloutId).policy);
    return runScript(commands, writeUpgradesScript, {
      keys: { ...ofRollout(rolloutId).keys, fence },
      args: {
        rolloutRev: null,
        slotsMax: null,
        fence: null,
        ...guard,
        ...nextMark(),
        changes: changes.map((change) => encodeChange(change, version, change)),
      },
    });
  }
}

type Verdict = 'saved' | 'stale' | 'braked';

function savedOf(changes: readonly UpgradeChange[], verdicts: readonly Verdict[]): readonly number[] {
  return changes.flatMap(({ after }, index) =>
    verdicts[index] === 'saved' ? [after.identity.collectorId] : [],
  );
}
