import type { RolloutStore } from '../../orchestrator/ports/rollout-store.ts';
import { parseRolloutId } from '../../rollout/model/rollout-id.ts';
import { runScript } from '../connection/script.ts';
import { encodeRollout, rolloutFields } from '../schema/stored-rollout.ts';
import { joinPlan } from './join-plan.ts';
import { forgetExpired, packEnded } from './kept-rollouts.ts';
import { unpackRecords } from './packed-records.ts';
import { makeRolloutReads } from './rollout-reads.ts';
import { saveRolloutScript } from './scripts.ts';
import { makeStoreContext, type RolloutStoreParts, type StoreContext } from './store-context.ts';
import { replacePlan, storePlan } from './store-plan.ts';
import { encodeEvents } from './upgrade-index.ts';
import { makeUpgradeReads } from './upgrade-reads.ts';
import { makeUpgradeWrites } from './upgrade-writes.ts';
import { makeViewRead } from './view-read.ts';

/** A rollout store in Redis: each change is one Lua script, and all keys of a policy share a hash tag. */
export function makeRedisRolloutStore(parts: RolloutStoreParts): RolloutStore {
  const store = makeStoreContext(parts);
  return {
    ...makeRolloutReads(store),
    ...makeViewRead(store),
    ...makeUpgradeReads(store),
    ...makeUpgradeWrites(store),
    ...makeRolloutWrites(store),
  };
}

/** Changes whole rollouts: new and changed plans, late joiners, saves, packing. */
function makeRolloutWrites(store: StoreContext) {
  const { commands, historyMs, nextMark, ofPolicy, ofRollout } = store;
  return {
    freeze: async (frozen) => {
      await forgetExpired(store, parseRolloutId(frozen.rollout.id).policy);
      return storePlan(store, frozen, nextMark());
    },

    replan: (frozen, expectedRev) => replacePlan(store, frozen, { expectedRev, mark: nextMark() }),

    join: (joining, expectedRev, fence) => joinPlan(store, joining, { expectedRev, fence, mark: nextMark() }),

    saveRollout: async ({ rollout, expectedRev, events, brake, replaced }, fence) => {
      const { keys } = ofRollout(rollout.id);
      const { fence: fenceKey, active, toPack } = ofPolicy(parseRolloutId(rollout.id).policy);
      const mark = nextMark();
      const save = () =>
        runScript(commands, saveRolloutScript, {
          keys: { ...keys, fence: fenceKey, active: active[rollout.kind], toPack },
          args: {
            id: rollout.id,
            write: mark.write,
            fence,
            expectedRev,
            rev: rollout.rev,
            rollout: encodeRollout(rollout),
            fields: [
              ...rolloutFields(rollout, mark),
              ...(replaced === undefined ? [] : ['replaced', replaced]),
            ],
            brake,
            endedAt: rollout.endedAt,
            historyMs,
            events: encodeEvents(events),
          },
        });
      const answer = await save();
      if (answer !== 'packed') return answer;
      await unpackRecords(commands, keys);
      const again = await save();
      // It was packed again in between: the caller decides again, and retries.
      return again === 'packed' ? 'stale' : again;
    },

    packEnded: (policies, endedBefore, signal) => packEnded(store, policies, { endedBefore, signal }),
  } satisfies Partial<RolloutStore>;
}
