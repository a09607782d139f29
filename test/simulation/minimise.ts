import type { Violation } from './judge/verdicts.ts';
import type { PlantedBug } from './planted-bugs.ts';
import { runNight } from './run-night.ts';
import { changeSetup, drawSetup, faultKinds, featureKinds, type Setup, type SetupChanges } from './setup.ts';
import type { RedisForNight } from './store/redis-stores.ts';

export interface Minimised {
  readonly changes: SetupChanges;
  readonly setup: Setup;
  readonly violation: Violation;
}

// Each plays a night: more than this makes nobody wait for what a person can do from there.
const attemptsMax = 250;

const smallerThan: ReadonlyArray<(setup: Setup) => SetupChanges> = [
  ({ collectors }) => ({ collectors: Math.max(1, Math.floor(collectors / 2)) }),
  ({ collectors }) => ({ collectors: Math.max(1, collectors - 1) }),
  ({ daemons }) => ({ daemons: Math.max(1, daemons - 1) }),
  () => ({ operators: 1 }),
  () => ({ words: 0 }),
  ({ words }) => ({ words: Math.floor(words / 2) }),
  ({ words }) => ({ words: Math.max(0, words - 1) }),
  ({ troubleMs }) => ({ troubleMs: Math.floor(troubleMs / 2) }),
];

/**
 * Shrinks a night that breaks a promise: fewer collectors and daemons, fewer kinds of faults, a simpler policy, a
 * shorter night, as long as the same promise is still broken. @returns undefined when the night breaks none
 */
export async function minimise(
  seed: number,
  from: SetupChanges,
  how: { readonly plant: PlantedBug | null; readonly redis?: RedisForNight | undefined },
  tell: (words: string) => void = () => {},
): Promise<Minimised | undefined> {
  const drawn = drawSetup(seed);
  const play = async (changes: SetupChanges) =>
    (await runNight(changeSetup(drawn, changes), { ...how, stopsEarly: true })).violations[0];
  const first = await play(from);
  if (first === undefined) return undefined;
  let best: { changes: SetupChanges; violation: Violation } = { changes: from, violation: first };
  let attempts = 0;
  const attempt = async (changes: SetupChanges): Promise<boolean> => {
    if (attempts >= attemptsMax) return false;
    attempts += 1;
    const violation = await play(changes);
    if (violation?.promise !== first.promise) return false;
    best = { changes, violation };
    tell(`${attempts}: ${JSON.stringify(changes)}`);
    return true;
  };
  for (let shrunk = true; shrunk; ) {
    shrunk = false;
    for (const smaller of smallerThan) {
      const now = changeSetup(drawn, best.changes);
      const change = smaller(now);
      const isSmaller = JSON.stringify({ ...now, ...change }) !== JSON.stringify(now);
      if (isSmaller && (await attempt({ ...best.changes, ...change }))) shrunk = true;
    }
    for (const kind of [...faultKinds, ...featureKinds]) {
      const { faults, features } = changeSetup(drawn, best.changes);
      if (!{ ...faults, ...features }[kind]) continue;
      if (await attempt({ ...best.changes, without: [...(best.changes.without ?? []), kind] })) shrunk = true;
    }
  }
  return { ...best, setup: changeSetup(drawn, best.changes) };
}
