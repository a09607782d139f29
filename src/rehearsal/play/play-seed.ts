import { sumOf } from '../../base/grouping.ts';
import type { DurationMs } from '../../base/time.ts';
import type { RolloutState } from '../../base/vocabulary.ts';
import type { RolloutNight } from '../../contract/admin/night.ts';
import { eventsReadMax } from '../../orchestrator/ports/rollout-store.ts';
import { makeSharedAttributes } from '../../orchestrator/records/shared-attributes.ts';
import { expectationOf, type GateAnswer } from '../../rollout/decision/assess-gate.ts';
import { rolloutReasonText } from '../../rollout/messages/rollout-reasons.ts';
import { type Expectation, evaluateExpectation } from '../../rollout/model/expectation.ts';
import type { GateRule, Policy } from '../../rollout/model/policy.ts';
import type { Wave } from '../../rollout/model/rollout.ts';
import { describeNight } from '../../rollout/status/describe-night.ts';
import { drawPastFates, type PastNight } from '../world/past-night.ts';
import { makeVirtualBudget } from '../world/virtual-budget.ts';
import {
  approvedAt,
  drawFates,
  drawInstalled,
  drawUpAgain,
  type GateWord,
  type WhatIf,
} from '../world/what-if.ts';
import type { Stage } from './engine.ts';
import { type Played, playRollout } from './play-rollout.ts';

/** The common parts of all seeds of a rehearsal. */
export interface Scene
  extends Pick<
    Stage,
    'targetBuild' | 'snapshot' | 'builds' | 'beganAt' | 'passPauseMs' | 'others' | 'scansAt'
  > {
  readonly whatIf: WhatIf;
  readonly requestsPerSecond: number;
  /** The rollout that is played again. Its fleet is the snapshot. */
  readonly past?: PastNight;
}

/** The result of one seed, as plain data. */
export interface SeedResult {
  readonly seed: number;
  readonly state: RolloutState;
  readonly reasonKind: string;
  readonly reason: string;
  readonly tookMs: DurationMs;
  readonly planned: number;
  /** Collectors that were down or not installed when the rollout was planned, and have joined it since. */
  readonly joined: number;
  /** Planned and joined collectors that the build breaks, and those of them for which a task was created. */
  readonly broken: number;
  readonly harmed: number;
  /** Others of them that were upgraded, and that failed for good. */
  readonly othersDone: number;
  readonly othersFailed: number;
  /** Upgraded collectors that a rollback returned to their previous build. */
  readonly rolledBack: number;
  /** Collectors that were upgraded, and were not rolled back. */
  readonly upgraded: number;
  readonly requests: number;
  readonly waves: readonly PlayedWave[];
  readonly heldStrata: readonly string[];
  readonly night: RolloutNight;
}

export type PlayedWave = Pick<Wave, 'name' | 'size' | 'openedAt' | 'passedAt'>;

/** Simulates the policy once. The same seed gives the same result. */
export async function playSeed(scene: Scene, policy: Policy, seed: number): Promise<SeedResult> {
  const { whatIf, snapshot, builds, beganAt, targetBuild, passPauseMs, past, others, scansAt } = scene;
  const installed = drawInstalled(whatIf, snapshot, { beganAt, seed });
  const everyone = [...snapshot.collectors, ...installed.collectors];
  const { broken, fateOf } = past ? drawPastFates(past, seed) : drawFates(whatIf, everyone, seed);
  const budget = makeVirtualBudget(scene.requestsPerSecond, whatIf.disturbances);
  const played = await playRollout({
    ...{ seed, policy, snapshot, beganAt, targetBuild, passPauseMs, fateOf, budget },
    gates: { ask: async ({ gate }) => answerOf(gate, whatIf.gates[gate.name] ?? 'pass') },
    approvedAt: (from) => approvedAt(whatIf.approval, from),
    ...(builds && { builds }),
    ...(others && { others }),
    ...(scansAt && { scansAt }),
    upAt: new Map([...drawUpAgain(whatIf, snapshot.collectors, { beganAt, seed }), ...installed.upAt]),
    installed: installed.collectors,
    ...(past && { rolloutId: past.rolloutId }),
    sharedAttributes: makeSharedAttributes(),
  });
  const { rollout, cause, store, stoppedAt } = played;
  const events = await store.readEvents(rollout.id, { limit: eventsReadMax });
  return {
    seed,
    state: rollout.state,
    reasonKind: cause.kind,
    reason: rolloutReasonText(cause),
    tookMs: stoppedAt - beganAt,
    requests: budget.requests,
    ...(await countMembers(played, broken)),
    waves: rollout.waves.map(({ name, size, openedAt, passedAt }) => ({ name, size, openedAt, passedAt })),
    heldStrata: rollout.strata.held.map(({ label }) => label),
    night: describeNight(rollout, events, stoppedAt),
  };
}

async function countMembers(
  { store, rollout, planned, service }: Played,
  broken: ReadonlySet<number>,
): Promise<
  Pick<
    SeedResult,
    'planned' | 'joined' | 'broken' | 'harmed' | 'othersDone' | 'othersFailed' | 'rolledBack' | 'upgraded'
  >
> {
  const members = await store.listMemberIds(rollout.id);
  const everyone = { offset: 0, limit: Number.MAX_SAFE_INTEGER };
  const succeeded = await store.listUpgrades(rollout.id, { ...everyone, state: 'succeeded' });
  const rolledBack = await store.listUpgrades(rollout.id, { ...everyone, state: 'rolledBack' });
  const failed = await store.listMissed(rollout.id, { kind: 'failed', limit: everyone.limit });
  const isOther = ({ identity }: { readonly identity: { readonly collectorId: number } }) =>
    !broken.has(identity.collectorId);
  return {
    planned,
    joined: sumOf(rollout.waves, ({ joined }) => joined),
    harmed: members.filter((id) => broken.has(id) && service.creates.has(id)).length,
    broken: members.filter((id) => broken.has(id)).length,
    othersDone: succeeded.filter(isOther).length,
    othersFailed: failed.filter(isOther).length,
    rolledBack: rolledBack.length,
    upgraded: succeeded.length,
  };
}

function answerOf(gate: GateRule, word: GateWord): GateAnswer {
  const detail = 'rehearsed';
  if (word === 'silent') return { kind: 'error', detail };
  const expect = expectationOf(gate);
  if (expect === null) return { kind: 'verdict', verdict: word, detail };
  return { kind: 'value', value: valueFor(expect, word === 'pass'), detail };
}

/** A value that meets the expectation, or misses it. */
function valueFor(expect: Expectation, isMet: boolean): number {
  const { value } = expect;
  const values = [value, value + 1, value - 1];
  return values.find((each) => evaluateExpectation(expect, each) === isMet) ?? value;
}
