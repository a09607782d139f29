import { describe, expect, it } from 'vitest';
import { decodeRollout } from '../../../../src/redis/schema/stored-rollout.ts';
import { decodeUpgrade } from '../../../../src/redis/schema/stored-upgrade.ts';
import { aRollout } from '../../../support/builders.ts';
import { anEndedOne } from '../../../support/upgrade-cases.ts';

describe('a stored record', () => {
  it('of an upgrade is read as it was written', () => {
    const reason = { kind: 'deferExpired', before: { kind: 'notAlive' }, forMs: 7 } as const;
    const upgrade = anEndedOne('withdrawn', { reason });
    const of = { rolloutId: 'r-1', version: 2 };
    expect(decodeUpgrade(` ${JSON.stringify({ ...upgrade, v: 2 })}`, of, 1)).toEqual(upgrade);
  });

  it('of a rollout is read as it was written', () => {
    const change = { target: null, joined: ['web-7'], left: [] };
    const rollout = aRollout({ rev: 1, drift: { from: '1a2b', joined: 1, left: 0, change } });
    const json = JSON.stringify(rollout);
    expect(decodeRollout({ json, rev: '1', v: null }, rollout.id, 2)).toEqual(rollout);
  });
});
