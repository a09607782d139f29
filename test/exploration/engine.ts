import { isDeepStrictEqual } from 'node:util';
import type { EpochMs } from '../../src/base/time.ts';
import type { RolloutStore } from '../../src/orchestrator/ports/rollout-store.ts';
import { makeMemoryRolloutStore, type StoreImage } from '../../src/rehearsal/store/memory-rollout-store.ts';
import type { Call } from './rerun.ts';

/** Answers the calls of the store, in any state that it is given. */
export interface Engine {
  ask(
    image: StoreImage,
    call: Call,
    now: EpochMs,
  ): Promise<{ readonly value: unknown; readonly image: () => StoreImage }>;
}

/** The model of the store, which takes the state of one world after another. */
export function makeModelEngine(): Engine {
  const clock = { at: 0 };
  const store = makeMemoryRolloutStore(() => clock.at, 'none');
  return {
    ask: async (image, call, now) => {
      clock.at = now;
      store.restore(image);
      return { value: await askOf(store, call), image: store.image };
    },
  };
}

/** The store said something else than its model. */
class StoreDiffers extends Error {}

/**
 * The model, with a store that gets the same calls and must give the same answers. It cannot go back, so that it plays one way
 * from the beginning.
 * @param clock the store's own
 */
export function makeComparingEngine(store: RolloutStore, clock: { at: EpochMs }): Engine {
  const model = makeModelEngine();
  return {
    ask: async (image, call, now) => {
      const expected = await model.ask(image, call, now);
      clock.at = now;
      const value = await askOf(store, call);
      if (!isDeepStrictEqual(value, expected.value))
        throw new StoreDiffers(`${call.name}: ${differenceOf(value, expected.value)}`);
      return expected;
    },
  };
}

async function askOf(store: RolloutStore, { name, args }: Call): Promise<unknown> {
  const method = Reflect.get(store, name) as (...given: readonly unknown[]) => Promise<unknown>;
  return method(...args);
}

/** The keys that differ, of two objects; else both values. */
function differenceOf(value: unknown, expected: unknown): string {
  if (!isObject(value) || !isObject(expected)) return `${shown(value)} instead of ${shown(expected)}`;
  return [...new Set([...Object.keys(value), ...Object.keys(expected)])]
    .filter((key) => !isDeepStrictEqual(value[key], expected[key]))
    .map((key) => `${key} is ${shown(value[key])} instead of ${shown(expected[key])}`)
    .join(', ');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  const asPlain = (_key: string, each: unknown) => (each instanceof Map ? [...each] : each);
  return JSON.stringify(value, asPlain) ?? 'nothing';
}
