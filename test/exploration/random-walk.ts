import { seededChance } from '../../src/base/chance.ts';
import type { RolloutStore } from '../../src/orchestrator/ports/rollout-store.ts';
import { applyMove } from './apply-move.ts';
import { makeComparingEngine } from './engine.ts';
import { movesOf } from './moves.ts';
import type { Violation } from './promises.ts';
import { aSmallWorld, type Scenario } from './scenarios.ts';

/**
 * Takes one order of moves, drawn at random, on a store and its model at the same time.
 * @param options `clock`: the store's own
 * @returns the first broken promise
 * @throws StoreDiffers when the store says something else than its model
 */
export async function walk(
  scenario: Scenario,
  {
    store,
    clock,
    seed,
    movesMax,
  }: {
    readonly store: RolloutStore;
    readonly clock: { at: number };
    readonly seed: number;
    readonly movesMax: number;
  },
): Promise<Violation | undefined> {
  const chance = seededChance(seed);
  const engine = makeComparingEngine(store, clock);
  // A store in Redis does not go back here: the nights do that.
  let world = await aSmallWorld({ ...scenario, faults: { ...scenario.faults, writesLost: 0 } }, null);
  clock.at = world.now;
  for (const { rollout, groups, upgrades } of world.store.rollouts)
    await store.freeze({ rollout, groups, upgrades, events: [] });
  for (let moves = 0; moves < movesMax; moves += 1) {
    const possible = movesOf(world);
    const move = possible[Math.floor(chance() * possible.length)];
    if (move === undefined) return undefined;
    const moved = await applyMove(engine, world, move);
    if (moved.violations[0] !== undefined) return moved.violations[0];
    world = moved.world;
  }
  return undefined;
}
