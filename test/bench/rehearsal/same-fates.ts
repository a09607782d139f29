import { makeSharedAttributes } from '../../../src/orchestrator/records/shared-attributes.ts';
import { World } from '../../../src/reference-service/fleet/world.ts';
import { parseScenario, type ScenarioInput } from '../../../src/reference-service/scenario/scenario.ts';
import { playRollout } from '../../../src/rehearsal/play/play-rollout.ts';
import type { Scene } from '../../../src/rehearsal/play/play-seed.ts';
import type { Fate, FateOf } from '../../../src/rehearsal/world/fates.ts';
import { makeVirtualBudget } from '../../../src/rehearsal/world/virtual-budget.ts';
import type { Policy } from '../../../src/rollout/model/policy.ts';

const hourMs = 3_600_000;

/** Rehearses one rollout in which each upgrade takes as long, and ends, as the reference service draws it. */
export async function rehearseSameFates(scene: Scene, policy: Policy, scenario: ScenarioInput) {
  const { requestsPerSecond, whatIf, ...stage } = scene;
  const budget = makeVirtualBudget(requestsPerSecond, whatIf.disturbances);
  const { rollout, stoppedAt, service } = await playRollout({
    ...{ ...stage, policy, budget, seed: 1 },
    fateOf: fatesOf(scene, policy.retry.maxAttempts, scenario),
    gates: { ask: async () => ({ kind: 'error', detail: 'no gate is played' }) },
    approvedAt: (from) => from,
    sharedAttributes: makeSharedAttributes(),
  });
  return {
    state: rollout.state,
    tookMs: stoppedAt - scene.beganAt,
    requests: budget.requests,
    started: new Set(service.creates.keys()),
  };
}

/** The service draws an attempt from collector, build and number alone, so that another world has the same ones. */
function fatesOf({ snapshot, targetBuild }: Scene, attempts: number, scenario: ScenarioInput): FateOf {
  let now = snapshot.readAt;
  const world = new World({ scenario: parseScenario(scenario), clock: { now: () => now } });
  const fates = new Map<string, Fate>();
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    for (const { facts } of world.upgradableTo(targetBuild)) {
      const { script, requestedAt } = world.createTask({
        collectorId: facts.id,
        toVersion: targetBuild,
        by: 'api',
      });
      const isLost = script.life.length > 0 && script.life.every(({ kind }) => kind === 'down');
      const ended: Fate['ends'] = isLost ? { kind: 'lost' } : { kind: 'succeeded' };
      fates.set(`${facts.id}/${attempt}`, {
        durationMs: script.endsAt - requestedAt,
        ends: script.endStatus === 3 ? { kind: 'failed', message: script.message } : ended,
      });
    }
    now += hourMs;
  }
  return (collectorId, attempt) => {
    const fate = fates.get(`${collectorId}/${attempt}`);
    if (fate === undefined) throw new Error(`collector ${collectorId} has no attempt ${attempt}`);
    return fate;
  };
}
