import { startedAt } from '../../support/builders.ts';
import { playVirtually } from '../../support/virtual/virtual-play.ts';
import { type Played, policyOf, sceneOf } from './played.ts';
import { type FleetSize, requestsPerSecondUsual, type Situation, scenarioFor } from './situations.ts';

/** Plays a situation with the real loops against the reference service's world, in virtual time. */
export async function playInVirtualTime(
  situation: Situation,
  of: { readonly seed: number; readonly size: FleetSize },
): Promise<Played> {
  const { outage, requestsPerSecond = requestsPerSecondUsual, windows } = situation;
  const policy = policyOf(situation, {
    ...of,
    closesAt: startedAt + (windows?.firstMs ?? 0),
  });
  const { state, stoppedAfterMs, requests, tasks, snapshot, targetBuild, builds } = await playVirtually({
    ...{ scenario: scenarioFor(situation, of), slots: of.size.slots, policy, requestsPerSecond },
    ...(outage && { wire: { outage: { from: startedAt + outage.fromMs, to: startedAt + outage.toMs } } }),
  });
  const started = new Set(tasks.map(({ collectorId }) => collectorId));
  return {
    ...{ name: situation.name, state, tookMs: stoppedAfterMs, started, policy },
    requests: Object.values(requests).reduce((sum, count) => sum + count, 0),
    scene: sceneOf(situation, { ...of, beganAt: startedAt, snapshot, targetBuild, builds, outage }),
  };
}
