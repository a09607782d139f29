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
  /** The service's time at the end of the list, where the response shows it. Newer observations came after the list. */
  readonly offeredAt: EpochMs | null;
}

interface UpgradableReading {
  readonly toBuild: string;
  readonly budgetClass: BudgetClass;
  readonly attemptsMax: number;
  /** Called right before each request is sent. */
  readonly onStart?: () => void;
  readonly signal: AbortSignal | undefined;
}

/** Reads the whole upgradable list of a build. */
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
 * Shares readings, because each costs one or more requests, and shows all collectors.
 * @param closing ends all readings
 */
export function makeUpgradableReadings(parts: FleetReadingParts, closing: AbortSignal) {
  const { clock } = parts;
  // Only the last one, which limits the memory. Rollouts of one daemon mostly have the same target.
  let last: LastReading | undefined;

  const ask = makeSharedReading(
    ({ toBuild }: Wanted) => toBuild,
    async ({ toBuild, isUrgent }, started) => {
      let beganAt: EpochMs | undefined;
      const answer = await readUpgradable(parts, {
        toBuild,
        budgetClass: isUrgent ? 'verify' : 'poll',
        // A failed poll is repeated by the loops.
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
    /** Reads the list with a first request after the call, so that the result is current. */
    ask,
    /** The last reading, if it began since then and lists this collector. Sends no request. */
    shown: (collectorId: number, toBuild: string, since: EpochMs): Upgradable | undefined => {
      if (last === undefined || last.toBuild !== toBuild || !last.upgradable.ids.has(collectorId))
        return undefined;
      // After the clock was set back, a beginning in the future may have any age.
      return last.beganAt >= since && last.beganAt <= clock.now() ? last.upgradable : undefined;
    },
  };
}
