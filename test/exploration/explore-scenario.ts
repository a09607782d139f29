import { isRolloutEnd } from '../../src/rollout/model/rollout.ts';
import { applyMove } from './apply-move.ts';
import { type Engine, makeModelEngine } from './engine.ts';
import { type Move, movesOf } from './moves.ts';
import type { PlantedOrder } from './planted-orders.ts';
import type { Violation } from './promises.ts';
import { aSmallWorld, type Scenario } from './scenarios.ts';
import type { SmallWorld } from './small-world.ts';
import { keyOf } from './world-key.ts';

export interface ExploreLimits {
  /** At most so many different states. */
  readonly statesMax: number;
  readonly depthMax: number;
  /** From one of so many states the rest of the rollout is played without faults. */
  readonly finishEvery: number;
  /** A bug that is put in. */
  readonly planted: PlantedOrder | null;
}

/** What the exploration of a scenario came to. */
export interface Explored {
  readonly scenario: string;
  readonly states: number;
  readonly transitions: number;
  /** The moves of the longest of the shortest ways. */
  readonly depth: number;
  /** True when every state within the depth was reached. */
  readonly isWhole: boolean;
  /** From how many states the rest of the rollout was played without faults. */
  readonly finished: number;
  readonly violation: (Violation & { readonly trace: readonly Move[] }) | null;
}

// Several times what the longest takes: more is a rollout that turns for ever.
const finishMovesMax = 3_000;

/** Takes every order of moves, breadth first, until a promise is broken or a limit is reached. */
export async function exploreScenario(scenario: Scenario, limits: ExploreLimits): Promise<Explored> {
  const engine = makeModelEngine();
  const first = await begin(engine, scenario, limits.planted);
  const known = new Set([keyOf(first)]);
  const ways: Array<{ readonly from: number; readonly move: Move | null }> = [{ from: -1, move: null }];
  let frontier: ReadonlyArray<{ readonly world: SmallWorld; readonly index: number }> = [
    { world: first, index: 0 },
  ];
  let [transitions, depth, finished] = [0, 0, 0];
  const traceTo = (index: number, last: Move): readonly Move[] => {
    const trace = [last];
    for (let at = ways[index]; at?.move; at = ways[at.from]) trace.unshift(at.move);
    return trace;
  };
  const result = (isWhole: boolean, violation: Explored['violation']): Explored => ({
    scenario: scenario.name,
    ...{ states: known.size, transitions, depth, isWhole, finished, violation },
  });
  while (frontier.length > 0 && depth < limits.depthMax) {
    const next: Array<{ readonly world: SmallWorld; readonly index: number }> = [];
    for (const { world, index } of frontier) {
      for (const move of movesOf(world)) {
        transitions += 1;
        const { world: after, violations } = await applyMove(engine, world, move);
        const [violation] = violations;
        if (violation !== undefined) return result(false, { ...violation, trace: traceTo(index, move) });
        const key = keyOf(after);
        if (known.has(key)) continue;
        known.add(key);
        ways.push({ from: index, move });
        next.push({ world: after, index: ways.length - 1 });
        if (known.size % limits.finishEvery === 0) {
          finished += 1;
          const unfinished = await finish(engine, after);
          if (unfinished !== undefined) return result(false, { ...unfinished, trace: traceTo(index, move) });
        }
        if (known.size >= limits.statesMax) return result(false, null);
      }
    }
    frontier = next;
    depth += 1;
  }
  return result(true, null);
}

/** Makes these moves again, and plays the rest without faults. @returns the first broken promise */
export async function replay(
  scenario: Scenario,
  trace: readonly Move[],
  { planted = null, engine = makeModelEngine() }: { planted?: PlantedOrder | null; engine?: Engine } = {},
): Promise<Violation | undefined> {
  let world = await begin(engine, scenario, planted);
  for (const move of trace) {
    const moved = await applyMove(engine, world, move);
    if (moved.violations[0] !== undefined) return moved.violations[0];
    world = moved.world;
  }
  return finish(engine, world);
}

/** The state from which every order is taken. */
async function begin(engine: Engine, scenario: Scenario, planted: PlantedOrder | null): Promise<SmallWorld> {
  let world = await aSmallWorld(scenario, planted);
  if (scenario.from === undefined) return world;
  const isOver = scenario.from;
  const { faults, verbs } = world;
  world = { ...world, faults: { ...faults, suspend: 0 }, verbs: [] };
  while (!isOver(world)) {
    const move = nextFairMove(world);
    if (move === undefined) throw new Error(`${scenario.name} never begins`);
    ({ world } = await applyMove(engine, world, move));
  }
  return { ...world, faults, verbs };
}

/** Plays the rest without faults. @returns what is wrong when it comes to no rest, or rests without a reason */
async function finish(engine: Engine, from: SmallWorld): Promise<Violation | undefined> {
  let world: SmallWorld = { ...from, verbs: [], faults: { ...from.faults, suspend: 0 } };
  for (let moves = 0; moves < finishMovesMax; moves += 1) {
    const move = nextFairMove(world);
    if (move === undefined) return judgeRest(world);
    const moved = await applyMove(engine, world, move);
    if (moved.violations[0] !== undefined) return moved.violations[0];
    world = moved.world;
  }
  return { promise: 'progress', words: `no rest after ${finishMovesMax} moves` };
}

/** A move that is no fault, of whatever comes first; time passes last. */
function nextFairMove(world: SmallWorld): Move | undefined {
  const moves = movesOf(world);
  for (const kind of fairMoves) {
    const move = moves.find((each) => each.do === kind && !('end' in each && each.end === 'failed'));
    if (move !== undefined) return move;
  }
  return undefined;
}

const fairMoves: ReadonlyArray<Move['do']> = [
  'go',
  'arrive',
  'answer',
  'step',
  'look',
  'end',
  'return',
  'wait',
];

function judgeRest({ store }: SmallWorld): Violation | undefined {
  for (const { rollout } of store.rollouts) {
    const waitsForPerson = rollout.state === 'held' || rollout.state === 'paused';
    if (waitsForPerson || (isRolloutEnd(rollout.state) && rollout.endedAt !== null)) continue;
    return { promise: 'progress', words: `${rollout.id} is ${rollout.state}, and waits for nothing` };
  }
  return undefined;
}
