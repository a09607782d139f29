import { describe, expect, it } from 'vitest';
import { decodeRollout } from '../../../../src/redis/schema/stored-rollout.ts';
import { aRollout } from '../../../support/builders.ts';

describe('a stored rollout', () => {
  const rollout = aRollout();
  const read = (changes: object) => {
    const json = JSON.stringify({ ...rollout, ...changes });
    return decodeRollout({ json, rev: '1', v: null }, rollout.id, 2);
  };

  it('is read with its kinds, as it was written', () => {
    expect(read({ rev: 1 })).toEqual({ ...rollout, rev: 1 });
  });

  it('has texts where an earlier version wrote sentences', () => {
    const old = {
      leftOut: { 'not alive': 3 },
      leftBehind: [{ reason: 'another rollout has them', count: 2, names: ['web-1 (had 19.1-1)'] }],
    };
    expect(read(old)).toMatchObject({
      leftOut: [{ kind: 'text', text: 'not alive', count: 3 }],
      leftBehind: [
        {
          why: { kind: 'text', text: 'another rollout has them' },
          count: 2,
          some: [{ text: 'web-1 (had 19.1-1)' }],
        },
      ],
    });
  });
});
