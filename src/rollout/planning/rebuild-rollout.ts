import type { EpochMs } from '../../base/time.ts';
import { textOf } from '../decision/unreadable-upgrades.ts';
import type { Policy, WaveRule } from '../model/policy.ts';
import {
  isRolloutEnd,
  type Rollout,
  type RolloutState,
  type WaveState,
  type WaveSummary,
} from '../model/rollout.ts';
import { type Upgrade, upgradeStates } from '../model/upgrade.ts';
import { rollbackPolicy } from './freeze-rollback.ts';
import { backToMax, frequentBuilds, fromBuildsMax, unopenedWave } from './new-rollout.ts';

/** What is still known of a rollout whose own record can't be read: what the store keeps beside it. */
export interface RolloutRemains {
  readonly id: string;
  readonly kind: Rollout['kind'];
  readonly rev: number;
  /** undefined: that can't be read, either. */
  readonly state: RolloutState | undefined;
  /** The last of its upgrades had ended. */
  readonly isOver: boolean;
  readonly createdAt: EpochMs;
  /** The last wave that has begun; -1: none. */
  readonly frontier: number;
  /** All waves up to the last that has members. */
  readonly waves: readonly WaveSummary[];
  /** Some of its upgrades: they tell which builds it is about. */
  readonly upgrades: readonly Upgrade[];
  /** Its text as far as it goes. */
  readonly text: string;
}

const unknown = 'unknown';

// Said while it is held, by `status` and wherever else a rollout tells why it stands still.
const wayOutWords =
  "its record in Redis can't be read: abort it; nothing of it starts, and what runs is watched to its end";

/**
 * The rollout as it is shown and watched while its own record can't be read. It is held, so that nobody starts by what
 * is guessed (P5, P14), unless it was ended before its time: then what runs is all there is to wait for. Never stored as
 * it is: a person may mend the record, or a version of us that can read it may come back.
 * @param policy as the config has it now: how long what runs may take, and what a failure means
 */
export function rebuildRollout(remains: RolloutRemains, policy: Policy): Rollout {
  const { id, kind, rev, isOver, createdAt, frontier, upgrades, text } = remains;
  const rules = (kind === 'rollback' ? rollbackPolicy(policy) : policy).waves;
  const waveRules = remains.waves.map((_wave, index) => rules[index] ?? unknownRule(index));
  const sizes = remains.waves.map(({ counts }) =>
    upgradeStates.reduce((sum, state) => sum + counts[state], 0),
  );
  const toBuilds = frequentBuilds(
    upgrades.map(({ identity: { toBuild } }) => toBuild),
    backToMax,
  );
  const state = stateOf(remains);
  const lastChangeAt = Math.max(createdAt, ...remains.waves.map((wave) => wave.lastChangeAt ?? 0));
  return {
    id,
    kind,
    rollbackOf: kind === 'rollback' ? (textOf(text, 'rollbackOf') ?? null) : null,
    rollbackId: textOf(text, 'rollbackId') ?? null,
    policy: { ...policy, waves: waveRules },
    targetBuild: toBuilds[0] ?? unknown,
    backTo: kind === 'rollback' ? toBuilds : [],
    leftBehind: [],
    fromBuilds: frequentBuilds(
      upgrades.map(({ identity: { fromBuild } }) => fromBuild),
      fromBuildsMax,
    ),
    planHash: textOf(text, 'planHash') ?? unknown,
    groupsRev: 1,
    startedBy: textOf(text, 'startedBy') ?? unknown,
    createdAt,
    fleetReadAt: createdAt,
    fleetSize: sizes.reduce((sum, size) => sum + size, 0),
    state,
    reason: isRolloutEnd(state)
      ? 'its record in Redis could not be read; what was kept beside it is shown'
      : wayOutWords,
    waves: waveRules.map((rule, index) => ({
      ...unopenedWave(rule, { size: sizes[index] ?? 0, chain: 1 }),
      state: waveStateAt(index, frontier),
    })),
    heldStrata: [],
    acknowledgedStrata: [],
    endsWithoutHeld: false,
    drift: null,
    leftOut: {},
    endedAt: isOver ? lastChangeAt : null,
    rev,
    brokenText: text,
  };
}

function stateOf({ state, isOver }: RolloutRemains): RolloutState {
  if (state !== undefined && isRolloutEnd(state)) return state;
  return isOver ? 'aborted' : 'held';
}

/** No wave has begun before the gate of the one before it had passed (P3). */
function waveStateAt(index: number, frontier: number): WaveState {
  if (index > frontier) return 'waiting';
  return index === frontier ? 'open' : 'passed';
}

/** Of a wave that the config does not have any more. */
function unknownRule(index: number): WaveRule {
  return {
    name: `wave ${index + 1}`,
    size: { kind: 'percent', percent: 100 },
    soakMs: 0,
    maxFailures: { kind: 'count', count: 0 },
    approval: false,
    gates: [],
  };
}
