import type { EpochMs } from '../../base/time.ts';
import { seeUpgradableCollectors } from '../../contract/collector-management/seen-collector.ts';
import type { BudgetClass } from '../../orchestrator/ports/api-budget.ts';
import type { Answer } from '../../orchestrator/ports/fleet-service.ts';
import { dateStepMs } from '../../rollout/model/service-clock.ts';
import { readWholeList } from '../wire/paging.ts';
import { type FleetReadingParts, pagesOf } from './fleet-reading.ts';
import { makeSharedReading } from './shared-reading.ts';

/** The collectors that the service would upgrade to a build. */
export interface Upgradable {
  readonly ids: ReadonlySet<number>;
  /** The service's clock when it had named the last of them, where the answer shows it: what is newer came after that. */
  readonly offeredAt: EpochMs | null;
}

interface UpgradableReading {
  readonly toBuild: string;
  readonly budgetClass: BudgetClass;
  readonly attemptsMax: number;
  /** Called right before each request leaves. */
  readonly onStart?: () => void;
  readonly signal: AbortSignal | undefined;
}

/** Reads the upgradable list of a build to its end. */
export async function readUpgradable(
  parts: FleetReadingParts,
  { toBuild, budgetClass, attemptsMax, onStart, signal }: UpgradableReading,
): Promise<Answer<Upgradable>> {
  let serviceAt: EpochMs | null = null;
  const list = await readWholeList<number>({
    ...pagesOf(parts),
    idOf: (id) => id,
    signal,
    attemptsMax,
    readPage: async (page) => {
      const query = { toVersion: toBuild, ...page };
      const answer = await parts.client.call(
        seeUpgradableCollectors,
        { query },
        { budgetClass, signal, onSend: onStart },
      );
      if (!answer.ok) return answer;
      serviceAt = answer.value.serviceAt;
      const { rows, weight } = answer.value.body;
      return { ok: true, value: { rows: rows.map((row) => row?.id ?? null), weight } };
    },
  });
  if (!list.ok) return list;
  const ids = new Set(list.value.rows);
  return { ok: true, value: { ids, offeredAt: serviceAt === null ? null : serviceAt + dateStepMs } };
}

interface Wanted {
  readonly toBuild: string;
  readonly isUrgent: boolean;
}

export type UpgradableReadings = ReturnType<typeof makeUpgradableReadings>;

interface LastReading {
  readonly toBuild: string;
  readonly beganAt: EpochMs;
  readonly upgradable: Upgradable;
}

/**
 * Shares readings: each costs a page or more of the budget, and shows every collector at once.
 * @param closing ends all of them
 */
export function makeUpgradableReadings(parts: FleetReadingParts, closing: AbortSignal) {
  const { clock } = parts;
  // One alone, which bounds it: rollouts of one daemon mostly go to one build.
  let last: LastReading | undefined;

  const ask = makeSharedReading(
    ({ toBuild }: Wanted) => toBuild,
    async ({ toBuild, isUrgent }, started) => {
      let beganAt: EpochMs | undefined;
      const answer = await readUpgradable(parts, {
        toBuild,
        budgetClass: isUrgent ? 'verify' : 'poll',
        // A poll that fails comes back by itself.
        attemptsMax: 1,
        onStart: () => {
          beganAt ??= clock.now();
          started();
        },
        signal: closing,
      });
      if (answer.ok && beganAt !== undefined) last = { toBuild, beganAt, upgradable: answer.value };
      return answer;
    },
  );

  return {
    /** A reading whose first request leaves after the call, so that it shows what is true now. */
    ask,
    /** A reading that began since then and had this collector on it. Asks nothing; undefined when none is known. */
    shown: (collectorId: number, toBuild: string, since: EpochMs): Upgradable | undefined => {
      if (last === undefined || last.toBuild !== toBuild || !last.upgradable.ids.has(collectorId))
        return undefined;
      // One that began in the future did so by a clock that was set back since: who knows when.
      return last.beganAt >= since && last.beganAt <= clock.now() ? last.upgradable : undefined;
    },
  };
}
