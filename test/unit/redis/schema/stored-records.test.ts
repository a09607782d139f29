import { describe, expect, it } from 'vitest';
import { decodeRollout } from '../../../../src/redis/schema/stored-rollout.ts';
import { decodeUpgrade } from '../../../../src/redis/schema/stored-upgrade.ts';
import { aStatus } from '../../../support/builders/gate-builders.ts';
import { aRollout, aWave, because } from '../../../support/builders.ts';
import { anEndedOne } from '../../../support/upgrade-cases.ts';

describe('a stored upgrade', () => {
  const read = (record: object) =>
    decodeUpgrade(` ${JSON.stringify(record)}`, { rolloutId: 'r-1', version: 2 }, 1);
  const reason = { kind: 'waitedInVain', before: { kind: 'notAlive' }, forMs: 7 } as const;
  const upgrade = anEndedOne('withdrawn', { reason });

  it('is read with its kinds, as it was written', () => {
    expect(read({ ...upgrade, v: 2 })).toEqual(upgrade);
  });

  it('has texts where an earlier version wrote sentences', () => {
    const tasks = [{ taskId: '7', startedAt: 1, ended: { at: 2, state: 'retrying', reason: 'no space' } }];
    const refused = { of: 'version', reason: 'collector.version.invalid' };
    const progress = { state: 'queued', dueAt: 1, freshAt: 0, startBy: null, refused };
    expect(read({ ...upgrade, tally: { ...upgrade.tally, tasks }, progress })).toMatchObject({
      tally: { tasks: [{ ended: { reason: because('no space') } }] },
      progress: { refused: { of: 'version', detail: 'collector.version.invalid' } },
    });
    expect(read({ ...upgrade, progress: { ...upgrade.progress, reason: 'not alive' } })).toMatchObject({
      progress: { reason: because('not alive') },
    });
  });
});

describe('a stored rollout', () => {
  const rollout = aRollout();
  const read = (changes: object) => {
    const json = JSON.stringify({ ...rollout, ...changes });
    return decodeRollout({ json, rev: '1', v: null }, rollout.id, 2);
  };

  it('is read with its kinds, as it was written', () => {
    const change = { kind: 'collectors', target: null, joined: ['web-7'], left: [] };
    const drift = { from: '1a2b', joined: 1, left: 0, change };
    expect(read({ rev: 1, drift })).toEqual({ ...rollout, rev: 1, drift });
  });

  it('has texts where an earlier version wrote sentences', () => {
    const old = {
      leftOut: { 'not alive': 3 },
      drift: { from: '1a2b', joined: 1, left: 0, words: '1 joined (web-7)' },
      heldStrata: [{ stratum: 0, label: 'all', reason: '3 of 4 failed', by: 'daemon', at: 1 }],
      leftBehind: [{ reason: 'another rollout has them', count: 2, names: ['web-1 (had 19.1-1)'] }],
    };
    expect(read(old)).toMatchObject({
      heldStrata: [{ reason: because('3 of 4 failed') }],
      leftOut: [{ kind: 'text', text: 'not alive', count: 3 }],
      drift: { from: '1a2b', joined: 1, left: 0, change: { kind: 'text', text: '1 joined (web-7)' } },
      leftBehind: [
        {
          why: { kind: 'text', text: 'another rollout has them' },
          count: 2,
          some: [{ text: 'web-1 (had 19.1-1)' }],
        },
      ],
    });
  });

  it('has no samples of its gates where an earlier version kept none', () => {
    const { samples: _, ...gate } = aStatus({ verdict: 'met', value: 0.998 });
    const waves = [{ ...aWave(), gates: [gate] }];
    expect(read({ waves }).waves[0]?.gates).toEqual([{ ...gate, samples: [] }]);
  });
});
