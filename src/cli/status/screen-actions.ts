import { encodeUpgrade } from '../../admin-api/handlers/upgrade-body.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { HoldResult, Operations } from '../../orchestrator/operations/operations.ts';
import { unknownSubjectText } from '../../rollout/messages/hold-command-notes.ts';
import { endStates, failedStates, type UpgradeState, upgradeStates } from '../../rollout/model/upgrade.ts';
import { failedOf } from '../../rollout/status/failed-aside.ts';
import { renderExplanation } from '../rollouts/explain-command.ts';
import type { PolicyRow } from '../rollouts/render-overview.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';
import { operatorName } from '../shell/operator.ts';
import type { ScreenActions } from './open-screen.ts';
import { listedMax } from './screen-state.ts';

const eventsMax = 100;

/** The calls of the screen to a daemon in another process. */
export function askDaemon(target: DaemonTarget): ScreenActions {
  return {
    list: ({ status, words }) =>
      withDaemon(target, async (client) => {
        const search = { limit: listedMax, ...searchFor(status, words) };
        return (await client.searchUpgrades(status.id, search)).collectors;
      }),
    events: ({ id }) => withDaemon(target, (client) => client.readEvents(id, { limit: eventsMax })),
    explain: (collectorId) =>
      withDaemon(target, async (client) => {
        const explained = await client.explain(String(collectorId));
        return renderExplanation(explained, Date.now()).split('\n');
      }),
    apply: ({ status, asked, reason }) =>
      withDaemon(target, async (client) => {
        await client.apply({ rolloutId: status.id, by: operatorName(), reason, ...asked });
      }),
    hold: ({ group, reason }) =>
      withDaemon(target, async (client) => {
        await client.hold({ subject: group, by: operatorName(), reason });
      }),
    release: ({ released, reason }) =>
      withDaemon(target, async (client) => {
        for (const subject of released.subjects)
          await client.release({ subject, by: operatorName(), reason });
      }),
    previewStart: (policy) => withDaemon(target, (client) => client.previewStart(policy)),
    start: ({ policy, planHash, reason }) =>
      withDaemon(target, async (client) => {
        await client.startPolicy({ policy, planHash, by: operatorName(), reason });
      }),
  };
}

/** The same calls to the daemon in this process. */
export function askOperations(
  operations: Pick<
    Operations,
    'searchUpgrades' | 'readEvents' | 'explain' | 'apply' | 'hold' | 'release' | 'previewStart' | 'start'
  >,
): ScreenActions {
  return {
    list: async ({ status, words }) => {
      const { state, match } = searchFor(status, words);
      const search = { limit: listedMax, ...(state && { states: state }), ...(match && { match }) };
      const found = await operations.searchUpgrades(status.id, search);
      return found?.upgrades.map((upgrade) => encodeUpgrade(upgrade, status, found.placeOf)) ?? [];
    },
    events: async ({ id }) => (await operations.readEvents(id, eventsMax)) ?? [],
    explain: async (collectorId) => {
      const result = await operations.explain(String(collectorId));
      if (result.kind === 'explained') return renderExplanation(result, Date.now()).split('\n');
      return [result.kind === 'unavailable' ? result.reason : `no installed collector ${collectorId}`];
    },
    apply: async ({ status, asked, reason }) => {
      const result = await operations.apply({ rolloutId: status.id, by: operatorName(), reason, ...asked });
      if (result.kind === 'refused') throw new Error(result.reason);
    },
    hold: async ({ group, reason }) => {
      throwRefused(await operations.hold({ subject: group, by: operatorName(), reason }));
    },
    release: async ({ released, reason }) => {
      for (const subject of released.subjects)
        throwRefused(await operations.release({ subject, by: operatorName(), reason }));
    },
    previewStart: async (policy) => {
      const result = await operations.previewStart(policy);
      if (result.kind !== 'planned') throw new Error(result.reason);
      return result.preview;
    },
    start: async ({ policy, planHash, reason }) => {
      const result = await operations.start({ policy, planHash, by: operatorName(), reason });
      if (result.kind !== 'started') throw new Error(result.reason);
    },
  };
}

/** @throws Error with the reason why there is no hold, or no release */
function throwRefused(result: HoldResult): void {
  if (result.kind === 'unknown') throw new Error(unknownSubjectText(result.why));
  if (result.kind === 'unavailable') throw new Error(result.reason);
}

/** A rollout as a row of its own. */
export function rowOf(status: RolloutStatus): PolicyRow {
  return { policy: status.policy, status, policyStatus: undefined };
}

const inFlightStates = upgradeStates.filter(
  (state) =>
    state !== 'pending' && state !== 'retrying' && !(endStates as readonly UpgradeState[]).includes(state),
);

/** Collectors that match these words; without words, those that failed, else those to retry, else those in flight. */
function searchFor(status: RolloutStatus, words: string) {
  if (words !== '') return { match: words };
  if (failedOf(status) > 0) return { state: [...failedStates] };
  const states: UpgradeState[] = status.counts.retrying > 0 ? ['retrying'] : inFlightStates;
  return { state: states };
}
