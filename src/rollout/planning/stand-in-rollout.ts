import { total } from '../decision/assess.ts';
import type { Policy } from '../model/policy.ts';
import {
  isRolloutEnd,
  type Rollout,
  type RolloutState,
  type UnreadableRecord,
  type WaveState,
  type WaveSummary,
} from '../model/rollout.ts';
import { parseRolloutId } from '../model/rollout-id.ts';
import type { RolloutReason } from '../model/rollout-reason.ts';
import { rollbackPolicy } from './freeze-rollback.ts';
import { plainWave, unopenedWave } from './new-rollout.ts';

/** What is known of a rollout whose own record is unreadable: what the store keeps beside it. */
export interface RolloutRemains extends Pick<Rollout, 'id' | 'kind' | 'rev' | 'createdAt' | 'targetBuild'> {
  /** undefined: that is unreadable, too. */
  readonly state: RolloutState | undefined;
  /** The last of its upgrades had ended. */
  readonly isOver: boolean;
  /** The last wave that has started; -1: none. */
  readonly frontier: number;
  /** All waves up to the last that has members. */
  readonly waves: readonly WaveSummary[];
  readonly problem: UnreadableRecord;
}

/**
 * The rollout as it is shown while its own record is unreadable. A corrupt one is held, so that nothing starts by what is
 * guessed (P5, P14), unless it was ended before its time: then only what is running is waited for. It is stored only when a
 * person repairs the rollout.
 * @param policies as the config has them now: how long what is running may take, and what a failure means
 */
export function makeStandIn(remains: RolloutRemains, policies: readonly Policy[]): Rollout {
  const { id, kind, rev, isOver, createdAt, frontier, targetBuild, problem } = remains;
  const { policy: name } = parseRolloutId(id);
  const policy = policies.find((each) => each.name === name) ?? unknownPolicy(name);
  const rules = (kind === 'rollback' ? rollbackPolicy(policy) : policy).waves;
  const waveRules = remains.waves.map((_wave, index) => rules[index] ?? plainWave(`wave ${index + 1}`));
  const sizes = remains.waves.map((wave) => total({ waves: [wave] }, () => true));
  const lastChangeAt = Math.max(createdAt, ...remains.waves.map((wave) => wave.lastChangeAt ?? 0));
  return {
    id,
    kind,
    rollbackOf: null,
    rollbackId: null,
    targetBuild,
    planHash: 'unknown',
    startedBy: 'unknown',
    policy: { ...policy, waves: waveRules },
    backTo: [],
    leftBehind: [],
    fromBuilds: [],
    groupsRev: 1,
    createdAt,
    fleetReadAt: createdAt,
    fleetSize: total(remains, () => true),
    state: stateOf(remains),
    reason: reasonOf(problem),
    waves: waveRules.map((rule, index) => ({
      ...unopenedWave(rule, { size: sizes[index] ?? 0, chain: 1 }),
      state: waveStateAt(index, frontier),
    })),
    heldStrata: [],
    acknowledgedStrata: [],
    endsWithoutHeld: false,
    drift: null,
    leftOut: [],
    endedAt: isOver ? lastChangeAt : null,
    rev,
    unreadable: problem,
  };
}

function reasonOf(problem: UnreadableRecord): RolloutReason {
  if (problem.kind === 'corrupt') return { kind: 'recordCorrupt' };
  const { version, readable } = problem;
  return { kind: 'recordNewer', version, readable };
}

function stateOf({ state, isOver, problem }: RolloutRemains): RolloutState {
  if (state !== undefined && (problem.kind === 'newer' || isRolloutEnd(state))) return state;
  return isOver ? 'aborted' : 'held';
}

/** No wave has started before the gate of the one before it had passed (P3). */
function waveStateAt(index: number, frontier: number): WaveState {
  if (index > frontier) return 'waiting';
  return index === frontier ? 'open' : 'passed';
}

/** One that the config does not have any more. Nothing starts by it, and running upgrades are watched for as long as usual. */
function unknownPolicy(name: string): Policy {
  const minuteMs = 60_000;
  return {
    name,
    ...{ select: { include: {}, exclude: [] }, windows: [], freezes: [], messageRules: [] },
    target: { version: 'latest', allowDowngrade: false, minimumAgeMs: 0, supersede: false },
    ...{ schedule: '*/15 * * * *', timeZone: 'UTC', approval: true, onBreach: 'hold', waves: [] },
    ...{ concurrency: 1, maxInFlightPer: [], spreadBy: [], isolateStrata: false, isolateAttributes: false },
    lostWeight: 1,
    upgrade: { deadlineMs: 35 * minuteMs, verifyWithinMs: 10 * minuteMs, expectMs: 5 * minuteMs },
    retry: {
      maxAttempts: 1,
      backoff: { initialMs: minuteMs, factor: 1, maxMs: minuteMs, jitter: 0 },
    },
    defer: { upToMs: 0 },
  };
}
