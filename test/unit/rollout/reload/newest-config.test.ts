import { describe, expect, it } from 'vitest';
import { configWords } from '../../../../src/rollout/messages/configs.ts';
import { judgeConfig, type LivingDaemon } from '../../../../src/rollout/reload/newest-config.ts';

function config(hash: string, generation: number, policy = 'production') {
  return { policy, hash, generation };
}

function daemon(...configs: ReadonlyArray<ReturnType<typeof config>>): LivingDaemon {
  return { followsSchedule: true, account: 'a', beatAt: 0, configs };
}

const first = config('aaaa', 1);
const second = config('bbbb', 2);

describe('which config of a policy counts (P5)', () => {
  it('is the older one again when the last daemon with the newer one is gone, because it was rolled back', () => {
    expect(judgeConfig(first, [daemon(first)])).toEqual({ kind: 'agreed', others: 0 });
  });

  it('is judged for each policy alone: a policy that only this daemon has is led by it', () => {
    expect(judgeConfig(first, [daemon(config('cccc', 9, 'staging'))])).toEqual({ kind: 'agreed', others: 0 });
    expect(judgeConfig(first, [daemon()])).toEqual({ kind: 'agreed', others: 0 });
  });

  it('is not replaced by a one-off run', () => {
    const once = { ...daemon(second), followsSchedule: false };
    expect(judgeConfig(first, [once])).toEqual({ kind: 'newest', others: 1 });
    // The other way round it is outdated as any.
    expect(judgeConfig(first, [once, daemon(config('cccc', 3))])).toEqual({ kind: 'outdated', others: 1 });
  });

  it('is shown with what to do', () => {
    expect(configWords('production', { kind: 'outdated', others: 2 })).toBe(
      '2 daemons have a newer config of production. This daemon leaves scans and plans of the policy to the newest config. Give it the new config, then run upwave reload, or restart it',
    );
    // Not "the newest": `run --once` beside it may have a newer one.
    expect(configWords('production', { kind: 'newest', others: 1 })).toBe(
      '1 daemon has another config of production. This daemon scans the policy. Give all daemons the same config',
    );
    expect(configWords('production', { kind: 'agreed', others: 0 })).toBeUndefined();
  });
});
