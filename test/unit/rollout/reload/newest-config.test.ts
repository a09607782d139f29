import { describe, expect, it } from 'vitest';
import { configText, settingsText } from '../../../../src/rollout/messages/config-texts.ts';
import {
  compareSettings,
  judgeConfig,
  type LivingDaemon,
} from '../../../../src/rollout/reload/newest-config.ts';

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
    expect(configText('production', { kind: 'outdated', others: 2 })).toBe(
      '2 daemons have a newer config of production. This daemon runs upgrades, and leaves the lead, scans and plans to the newest config. Give it the new config, then run upwave reload, or restart it',
    );
    // Not "the newest": `run --once` beside it may have a newer one.
    expect(configText('production', { kind: 'newest', others: 1 })).toBe(
      '1 daemon has another config of production. This daemon scans the policy. Give all daemons the same config',
    );
    expect(configText('production', { kind: 'agreed', others: 0 })).toBeUndefined();
  });
});

describe('the config outside of the policies', () => {
  const settings = (hashes: Readonly<Record<string, string>>) =>
    Object.entries(hashes).map(([key, hash]) => ({ key, hash }));
  const own = settings({ service: 's1', http: 'h1', notify: 'n1' });
  const another = (hashes: Readonly<Record<string, string>>) => ({ ...daemon(), settings: settings(hashes) });

  it('differs by its keys, over all other daemons', () => {
    const same = another({ service: 's1', http: 'h1', notify: 'n1' });
    const others = [another({ service: 's1', http: 'h1', notify: 'n2' }), same, another({ http: 'h2' })];
    expect(compareSettings(own, others)).toEqual({ keys: ['http', 'notify'], others: 2 });
  });

  it('agrees where all is the same, and with a daemon that does not report it', () => {
    expect(
      compareSettings(own, [another({ service: 's1', http: 'h1', notify: 'n1' }), daemon()]),
    ).toBeUndefined();
  });

  it('differs by the service alone where the access key is another one', () => {
    expect(compareSettings(own, [another({ service: 's2', http: 'h2', notify: 'n2' })])).toEqual({
      keys: ['service'],
      others: 1,
    });
  });

  it('is shown with what to do', () => {
    expect(settingsText({ keys: ['http', 'notify'], others: 2 })).toBe(
      '2 daemons have another config of http, notify. The daemon that leads uses its own, so messages to receivers may be missing. Give all daemons the same config, then run upwave reload, or restart them',
    );
  });
});
