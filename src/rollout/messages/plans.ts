import { nearestText, someNames } from '../../base/names.ts';

/** `plan 7f3a: 12 collectors to 19.455-2 (canary 3, rest 9)`. */
export function planWords(plan: {
  readonly planHash: string;
  readonly planned: number;
  readonly targetBuild: string;
  readonly waves: ReadonlyArray<{ readonly name: string; readonly size: number }>;
}): string {
  const { planHash, planned, targetBuild, waves } = plan;
  const sizes = waves.map(({ name, size }) => `${name} ${size}`).join(', ');
  const collectors = `${planned} ${planned === 1 ? 'collector' : 'collectors'}`;
  return `plan ${planHash}: ${collectors} to ${targetBuild} (${sizes})`;
}

/** How a plan moved since it was shown: `2 joined (web-1, web-2), 1 left (db-3)`. `target`: where it is another one now. */
export function driftWords(drift: {
  readonly target: string | undefined;
  readonly joined: readonly string[];
  readonly left: readonly string[];
}): string {
  const { target, joined, left } = drift;
  return [
    target === undefined ? '' : `the target is ${target} now`,
    joined.length === 0 ? '' : `${joined.length} joined (${someNames(joined)})`,
    left.length === 0 ? '' : `${left.length} left (${someNames(left)})`,
    joined.length + left.length === 0 ? 'its waves changed' : '',
  ]
    .filter((part) => part !== '')
    .join(', ');
}

/** A policy that the config does not have. */
export function unknownPolicyWords(name: string, known: readonly string[]): string {
  const nearest = nearestText(name, known);
  const offer = nearest === undefined ? `there are ${known.join(', ')}` : `did you mean ${nearest}?`;
  return `no policy is called ${name}; ${offer}`;
}

/** A start is refused: the plan is not the one that was shown (P15). */
export function otherPlanWords(asked: string, now: Parameters<typeof planWords>[0]): string {
  return `the plan is not ${asked} any more; now it is ${planWords(now)}`;
}
