import type { RolloutView, Wave } from './rollout.ts';

/** What a wave that has not begun waits for; null when it has begun, or nothing stands before it. */
export function waveWaits(view: RolloutView, index: number): string | null {
  const { waves, policy } = view.rollout;
  const wave = waves[index];
  if (wave?.state !== 'waiting' && wave?.state !== 'awaitingApproval') return null;
  const before = waves.slice(0, index).find(({ state }) => state !== 'passed');
  const words = [
    before === undefined ? '' : `gate of ${before.name}`,
    policy.waves[index]?.approval === true && wave.approvedAt === null ? 'approval' : '',
  ].filter((part) => part !== '');
  return words.length === 0 ? null : words.join(', ');
}

/** Said of a wave while its soak runs. */
export function soakWords({ name }: Pick<Wave, 'name'>): string {
  return `wave ${name} soaks`;
}
