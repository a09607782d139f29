import { describe, expect, it } from 'vitest';
import { decodeRollout, encodeRollout } from '../../../../src/redis/schema/stored-rollout.ts';
import { decodeUpgrade } from '../../../../src/redis/schema/stored-upgrade.ts';
import type { Rollout } from '../../../../src/rollout/model/rollout.ts';
import { aPolicy, aRollout, askedFor, aWave, startedAt, targetBuild } from '../../../support/builders.ts';
import { anEndedOne } from '../../../support/upgrade-cases.ts';

const drift = {
  ...{ from: '1a2b', joined: 1, left: 0 },
  change: { target: null, joined: ['web-7'], left: [] },
};
const heldStratum = { stratum: 1, label: 'arm', reason: askedFor(''), by: 'ann', at: startedAt };
const acknowledged = { stratum: 1, failed: 1, wave: 0, weight: 3 };
const left = { why: { kind: 'held' }, count: 1, some: [{ name: 'web-1', had: '19.441-2' }] } as const;
const baseline = { at: startedAt, size: 10, missing: 0 };
const why = { kind: 'empty', expected: 10 } as const;
const implausible = { since: startedAt, readAt: startedAt, why, size: 0, missing: 10 };

const calendar = { windows: [], freezes: [], timeZone: 'UTC', waves: [{}], until: startedAt };

/** A record as versions before the groups wrote it: every field beside the others, and no optional one. */
const plain = {
  ...{ id: 'production-20260302-1', kind: 'upgrade', rollbackOf: null, rollbackId: null },
  ...{ policy: aPolicy(), config: { generation: 3, changes: 1 }, targetBuild, backTo: [], leftBehind: [] },
  ...{ fromBuilds: ['19.441-2'], fromCounts: [10], planHash: '7f3a', groupsRev: 2, knowsZones: false },
  ...{ startedBy: 'schedule', createdAt: startedAt, fleetReadAt: startedAt - 1, fleetSize: 12 },
  ...{ state: 'running', reason: askedFor(''), hold: null, waves: [aWave()] },
  ...{ heldStrata: [], acknowledgedStrata: [], endsWithoutHeld: false, drift: null },
  ...{ leftOut: [{ kind: 'notAlive', count: 2 }], endedAt: null, rev: 7, accountMarks: [] },
};

/** The same with all optional fields. */
const full = {
  ...plain,
  ...{ kind: 'rollback', rollbackOf: 'production-20260301-1', rollbackId: 'production-20260302-2' },
  ...{ backTo: ['19.441-2'], leftBehind: [left], anyTime: true, unweighedFields: ['rack'], drift },
  ...{ inventory: baseline, implausibleInventory: implausible },
  config: { ...plain.config, replacedCalendars: [calendar] },
  ...{ state: 'held', hold: 6, heldFor: { kind: 'evidence', wave: 0 } },
  ...{ heldStrata: [heldStratum], acknowledgedStrata: [acknowledged], endsWithoutHeld: true },
};

const read = (record: object): Rollout =>
  decodeRollout({ json: JSON.stringify(record), rev: '7', v: null }, plain.id, 2);

describe('a stored record', () => {
  it('of an upgrade is read as it was written', () => {
    const reason = { kind: 'deferExpired', before: { kind: 'notAlive' }, forMs: 7 } as const;
    const upgrade = anEndedOne('withdrawn', { reason });
    const of = { rolloutId: 'r-1', version: 2 };
    expect(decodeUpgrade(` ${JSON.stringify({ ...upgrade, v: 2 })}`, of, 1)).toEqual(upgrade);
  });

  it('of a rollout is read as it was written', () => {
    const rollout = aRollout({
      state: 'held',
      hold: { heldFor: { kind: 'evidence', wave: 0 } },
      plan: { drift, unweighedFields: ['rack'] },
      strata: { held: [heldStratum] },
      inventory: { baseline, implausible },
      rollback: { startedAs: 'production-20260302-2', leftBehind: [left], anyTime: true },
    });
    expect(decodeRollout({ json: encodeRollout(rollout), rev: '1', v: null }, rollout.id, 2)).toEqual(
      rollout,
    );
  });

  it.each([
    ['without optional fields', plain],
    ['with all optional fields', full],
  ])('of a rollout %s is written as earlier versions read and wrote it', (_which, record) => {
    expect(JSON.parse(encodeRollout(read(record)))).toStrictEqual(JSON.parse(JSON.stringify(record)));
  });

  it('of a rollout is grouped', () => {
    expect(read(plain)).toEqual(
      aRollout({
        ...{ config: plain.config, rev: 7 },
        plan: {
          ...{ fromCounts: [10], groupsRev: 2, fleetReadAt: startedAt - 1, fleetSize: 12 },
          leftOut: [{ kind: 'notAlive', count: 2 }],
        },
      }),
    );
    expect(read(full)).toMatchObject({
      plan: { hash: '7f3a', unweighedFields: ['rack'], drift },
      hold: { number: 6, heldFor: { kind: 'evidence', wave: 0 } },
      strata: { held: [heldStratum], acknowledged: [acknowledged], endsWithoutHeld: true },
      inventory: { baseline, implausible },
      rollback: {
        ...{ original: 'production-20260301-1', startedAs: 'production-20260302-2' },
        ...{ backTo: ['19.441-2'], leftBehind: [left], anyTime: true },
      },
    });
  });
});
