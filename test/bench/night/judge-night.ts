import { findBrokenInRecord } from '../contest/promises.ts';
import type { Night } from './run-night.ts';

/** The promises that a night broke: no fault may cost a collector a second upgrade, or hold a rollout. */
export function findBrokenInNight(
  { collectors, statuses, holds, record }: Pick<Night, 'collectors' | 'statuses' | 'holds' | 'record'>,
  limits: { readonly accounts: number; readonly slots: number },
): readonly string[] {
  const unfinished = statuses.filter(({ state }) => state !== 'succeeded');
  const refused = record.refusedCreates['collector.in.upgrading'] ?? 0;
  return [
    ...findBrokenInRecord({ collectors, slots: limits.slots }, record),
    ...(refused > 0 ? [`${refused} creates for collectors that were in an upgrade`] : []),
    ...(statuses.length === limits.accounts ? [] : [`${statuses.length} of ${limits.accounts} rollouts`]),
    ...unfinished.map(({ id, state, reason }) => `${id} is ${state}: ${reason}`),
    ...holds,
  ];
}
