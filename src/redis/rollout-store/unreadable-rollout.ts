import { needsCollectorZone } from '../../rollout/calendar/calendar.ts';
import { countUpgradesIn } from '../../rollout/decision/assess.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import {
  isRolloutEnd,
  noRollback,
  type Rollout,
  type RolloutState,
  rolloutStates,
  type UnreadableRecord,
  type WaveState,
} from '../../rollout/model/rollout.ts';
import { parseRolloutId } from '../../rollout/model/rollout-id.ts';
import type { RolloutReason } from '../../rollout/model/rollout-reason.ts';
import { plainWave, unopenedWave } from '../../rollout/planning/new-rollout.ts';
import { parseCounters, waveCountOf, waveSummaryOf } from '../schema/counter-fields.ts';
import { decodeMarks } from '../schema/stored-rollout.ts';
import type { StoreContext } from './store-context.ts';

/**
 * Shows a rollout whose own record is unreadable, from its other records and the config's policy. A corrupt one is held, so
 * that nothing starts on guessed data (P5, P14), unless it had been ended: then only running upgrades are awaited. These
 * records may not be of one instant, so a save based on them is refused when the rollout has changed meanwhile.
 * @returns undefined when the rollout is gone
 */
export async function showUnreadable(
  { commands, ofPolicy, ofRollout, policies }: StoreContext,
  id: string,
  problem: UnreadableRecord,
): Promise<Rollout | undefined> {
  const { keys } = ofRollout(id);
  const { policy: name, yyyymmdd } = parseRolloutId(id);
  const [fields, placedAt, counted] = await Promise.all([
    commands.hmget(keys.rollout, 'rev', 'state', 'frontier', 'ended', 'kind', 'target', 'marks'),
    commands.zscore(ofPolicy(name).rollouts, id),
    commands.hgetall(keys.counters),
  ]);
  const [revText, stateText, frontier, ended, kind, target, marks] = fields;
  if (typeof revText !== 'string') return undefined;
  const counters = parseCounters(Object.entries(counted));
  const waves = Array.from({ length: waveCountOf(counters) }, (_wave, index) =>
    waveSummaryOf(counters, index),
  );
  const isOver = ended === '1';
  const rev = Number(revText);
  const createdAt = placedAt === null ? dayOf(yyyymmdd) : Number(placedAt);
  const policy = policies().find((each) => each.name === name) ?? unknownPolicy(name);
  const waveRules = waves.map((_wave, index) => policy.waves[index] ?? plainWave(`wave ${index + 1}`));
  const state = stateOf(stateText, isOver, problem);
  return {
    id,
    kind: kind === 'rollback' ? kind : 'upgrade',
    policy: { ...policy, waves: waveRules },
    config: { generation: 0, changes: 0 },
    startedBy: 'unknown',
    createdAt,
    plan: {
      hash: 'unknown',
      targetBuild: target ?? 'unknown',
      fromBuilds: [],
      fromCounts: [],
      leftOut: [],
      unweighedFields: [],
      groupsRev: 1,
      knowsZones: needsCollectorZone(policy),
      fleetReadAt: createdAt,
      fleetSize: countUpgradesIn({ waves }, () => true),
      drift: null,
    },
    state,
    hold: state === 'held' || state === 'paused' ? { number: rev } : null,
    reason: reasonOf(problem),
    waves: waveRules.map((rule, index) => ({
      ...unopenedWave(rule, {
        size: countUpgradesIn({ waves: waves.slice(index, index + 1) }, () => true),
        chain: 1,
      }),
      state: waveStateAt(index, Number(frontier ?? '-1')),
    })),
    strata: { held: [], acknowledged: [], endsWithoutHeld: false },
    inventory: { baseline: null, implausible: null },
    rollback: noRollback,
    endedAt: isOver ? Math.max(createdAt, ...waves.map((wave) => wave.lastChangeAt ?? 0)) : null,
    accountMarks: decodeMarks(marks ?? ''),
    rev,
    unreadable: problem,
  };
}

function reasonOf(problem: UnreadableRecord): RolloutReason {
  if (problem.kind === 'corrupt') return { kind: 'recordsUnreadable', keys: [problem.key] };
  const { version, readable } = problem;
  return { kind: 'recordNewer', version, readable };
}

function stateOf(text: string | null | undefined, isOver: boolean, { kind }: UnreadableRecord): RolloutState {
  const state = rolloutStates.find((each) => each === text);
  if (state !== undefined && (kind === 'newer' || isRolloutEnd(state))) return state;
  return isOver ? 'aborted' : 'held';
}

/** A wave starts only after the gate of the previous wave passed (P3). */
function waveStateAt(index: number, frontier: number): WaveState {
  if (index > frontier) return 'waiting';
  return index === frontier ? 'open' : 'passed';
}

/** The first instant of the day in UTC. */
function dayOf(yyyymmdd: string): number {
  return Date.UTC(Number(yyyymmdd.slice(0, 4)), Number(yyyymmdd.slice(4, 6)) - 1, Number(yyyymmdd.slice(6)));
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
