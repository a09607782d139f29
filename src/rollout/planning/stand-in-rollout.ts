import { needsCollectorZone } from '../calendar/calendar.ts';
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

/** What the store still knows about a rollout whose own record is unreadable. */
export interface PartialRollout
  extends Pick<Rollout, 'id' | 'kind' | 'rev' | 'createdAt' | 'targetBuild' | 'accountMarks'> {
  /** undefined if it is unreadable, too. */
  readonly state: RolloutState | undefined;
  /** All of its upgrades have ended. */
  readonly isOver: boolean;
  /** Index of the last wave that has started; -1 if none has. */
  readonly frontier: number;
  /** All waves up to the last that has members. */
  readonly waves: readonly WaveSummary[];
  readonly problem: UnreadableRecord;
}

/**
 * Makes the rollout that is shown while its own record is unreadable. A corrupt rollout is held, so that nothing starts
 * on guessed data (P5, P14), unless it had been ended: then only running upgrades are awaited. It is stored only when
 * an operator repairs the rollout.
 * @param policies from the current config: deadlines of running upgrades, and what a failure means
 */
export function makeStandIn(partial: PartialRollout, policies: readonly Policy[]): Rollout {
  const { id, kind, rev, isOver, createdAt, frontier, targetBuild, accountMarks, problem } = partial;
  const { policy: name } = parseRolloutId(id);
  const policy = policies.find((each) => each.name === name) ?? unknownPolicy(name);
  const rules = (kind === 'rollback' ? rollbackPolicy(policy) : policy).waves;
  const waveRules = partial.waves.map((_wave, index) => rules[index] ?? plainWave(`wave ${index + 1}`));
  const sizes = partial.waves.map((wave) => total({ waves: [wave] }, () => true));
  const state = stateOf(partial);
  const lastChangeAt = Math.max(createdAt, ...partial.waves.map((wave) => wave.lastChangeAt ?? 0));
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
    fromCounts: [],
    config: { generation: 0, changes: 0 },
    groupsRev: 1,
    knowsZones: needsCollectorZone(policy),
    createdAt,
    fleetReadAt: createdAt,
    fleetSize: total(partial, () => true),
    state,
    hold: state === 'held' || state === 'paused' ? rev : null,
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
    accountMarks,
    rev,
    unreadable: problem,
  };
}

function reasonOf(problem: UnreadableRecord): RolloutReason {
  if (problem.kind === 'corrupt') return { kind: 'recordCorrupt' };
  const { version, readable } = problem;
  return { kind: 'recordNewer', version, readable };
}

function stateOf({ state, isOver, problem }: PartialRollout): RolloutState {
  if (state !== undefined && (problem.kind === 'newer' || isRolloutEnd(state))) return state;
  return isOver ? 'aborted' : 'held';
}

/** A wave starts only after the gate of the previous wave passed (P3). */
function waveStateAt(index: number, frontier: number): WaveState {
  if (index > frontier) return 'waiting';
  return index === frontier ? 'open' : 'passed';
}

/** Replaces a policy that is no longer in the config. Nothing starts; running upgrades get the default deadlines. */
function unknownPolicy(name: string): Policy {
  const minuteMs = 60_000;
  return {
    name,
    ...{ select: { include: {}, exclude: [] }, windows: [], freezes: [], messageRules: [] },
    target: { version: 'latest', allowDowngrade: false, minimumAgeMs: 0, supersede: false },
    ...{ schedule: '*/15 * * * *', timeZone: 'UTC', approval: true, onBreach: 'hold', waves: [] },
    ...{ concurrency: 1, maxInFlightPer: [], spreadBy: [], isolate: 'off' },
    lostWeight: 1,
    upgrade: { deadlineMs: 35 * minuteMs, verifyWithinMs: 10 * minuteMs, expectMs: 5 * minuteMs },
    retry: {
      maxAttempts: 1,
      backoff: { initialMs: minuteMs, factor: 1, maxMs: minuteMs, jitter: 0 },
    },
    defer: { upToMs: 0 },
  };
}
