import type { Rollout } from '../../../src/rollout/model/rollout.ts';
import type { CollectorModel } from '../world/collector-model.ts';
import { isSilentSince, isSteadyUntil } from '../world/delivery-model.ts';
import type { ServiceModel } from '../world/service-model.ts';
import type { SeenRollout } from './seen-rollouts.ts';
import type { Verdicts } from './verdicts.ts';

/** Judges a wave that passed with its data flow measured: nobody in it was silenced by the upgrade (P14). */
export function judgeDelivery(
  {
    verdicts,
    serviceOf,
    skewMs,
  }: {
    readonly verdicts: Verdicts;
    readonly skewMs: number;
    serviceOf(rolloutId: Rollout['id']): ServiceModel;
  },
  of: SeenRollout,
  index: number,
  name: string,
): void {
  const { collectors } = serviceOf(of.rollout.id);
  for (const { identity, tally, progress } of of.upgrades.values()) {
    const collector = collectors.get(identity.collectorId);
    if (identity.wave !== index || progress.state !== 'succeeded' || collector === undefined) continue;
    const { delivery, about, formerNames } = collector;
    // What it delivered under a name from before its plan, or between two renames, nobody can know: too little to compare.
    const [firstName = about] = formerNames;
    if (firstName.name !== identity.collectorName || formerNames.length > 1) continue;
    const wasSteady = isSteadyUntil(delivery, (tally.firstStartedAt ?? progress.endedAt) - skewMs);
    const isSilent = wasSteady && isSilentSince(delivery, progress.endedAt + skewMs);
    verdicts.check('P14', !isSilent, `${name} although ${identity.collectorId} delivers nothing any more`);
  }
}

/** Judges a collector that counts as silent: it was silent for a while before, if not now (P14). */
export function judgeSilence(
  verdicts: Verdicts,
  { delivery: { gaps } }: CollectorModel,
  { who, now, slackMs }: { readonly who: string; readonly now: number; readonly slackMs: number },
): void {
  // The searches take their time before their verdict is written down.
  const lately = now - slackMs - searchedWithinMs;
  const wasSilent = gaps.some(({ until }) => until > lately);
  verdicts.check('P14', wasSilent, `${who}, which delivers, is counted as silent`);
}

const searchedWithinMs = 25 * 60_000;
