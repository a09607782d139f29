import { counted } from '../../rollout/messages/sentences.ts';
import type { PastNight } from '../world/past-night.ts';
import type { Rehearsal } from './rehearsal.ts';

/** The rollout that a rehearsal plays again. */
export interface ShownReplay extends Pick<PastNight, 'rolloutId' | 'state' | 'harmed' | 'upgraded'> {
  /** Its collectors in the fleet whose result is known. */
  readonly known: number;
  /** Others in the fleet, which it did not start or gave up. */
  readonly drawn: number;
  /** Its collectors that the fleet no longer has. */
  readonly missing: number;
}

/** `production-20260302-1: 252 collectors as they went then; …` */
export function replayedText({ rolloutId, known, drawn, missing }: ShownReplay): string {
  return [
    `${rolloutId}: ${counted(known, 'collector')} as they went then`,
    ...(drawn === 0
      ? []
      : [`${drawn} whose result is unknown, because it did not start them, like others of their stratum`]),
    ...(missing === 0 ? [] : [`${missing} left out, because the fleet no longer has them`]),
  ].join('; ');
}

/** What the policy would have changed. */
export function comparedText(replay: ShownReplay, { harmed, upgraded }: Rehearsal): string {
  const [harmedNow, upgradedNow] = [harmed.median, upgraded.median];
  if (harmedNow === replay.harmed && upgradedNow === replay.upgraded)
    return `The replay gives what the rollout gave: ${harmedNow} harmed, ${upgradedNow} upgraded.`;
  const than = (now: number, then: number) => (now === then ? 'as before' : `instead of ${then}`);
  return `With this policy, ${harmedNow} would have been harmed ${than(harmedNow, replay.harmed)}, and ${upgradedNow} upgraded ${than(upgradedNow, replay.upgraded)}.`;
}
