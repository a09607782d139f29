import { describe, expect, it } from 'vitest';
import { chooseTarget, isOffered } from '../../../../src/rollout/planning/target.ts';
import { aTarget, startedAt, targetBuild } from '../../../support/builders.ts';

const builds = [
  { version: '19.999-1', latest: false },
  { version: targetBuild, latest: true },
];
const dayMs = 86_400_000;
const patient = aTarget({ minimumAgeMs: 3 * dayMs });
const seenAt = (since: number, at: number) => ({ firstSeen: new Map([[targetBuild, since]]), at });

describe('the target (P6)', () => {
  it('does not exist where no build can be chosen', () => {
    expect(chooseTarget(aTarget({ version: '19.1-1' }), builds)).toEqual({
      kind: 'none',
      why: { kind: 'notOffered', build: '19.1-1' },
    });
    expect(chooseTarget(aTarget(), [{ version: targetBuild, latest: false }])).toEqual({
      kind: 'none',
      why: { kind: 'noLatest' },
    });
  });
});

describe('the age of a latest build', () => {
  it('keeps the build from being the target until it is old enough, and shows when that is', () => {
    const notBefore = startedAt + 3 * dayMs;
    expect(chooseTarget(patient, builds, seenAt(startedAt, notBefore - 1))).toEqual({
      kind: 'none',
      why: { kind: 'tooNew', build: targetBuild, since: startedAt, ageMs: 3 * dayMs, notBefore },
    });
    expect(chooseTarget(patient, builds, seenAt(startedAt, notBefore)).kind).toBe('chosen');
  });

  it('starts with this scan for a build that was never seen', () => {
    const seen = { firstSeen: new Map([['19.999-1', 0]]), at: startedAt };
    expect(chooseTarget(patient, builds, seen)).toMatchObject({
      why: { notBefore: startedAt + 3 * dayMs },
    });
    expect(chooseTarget(aTarget(), builds, seen).kind).toBe('chosen');
  });

  it('does not matter for a named build, or when it is not recorded', () => {
    const named = aTarget({ version: targetBuild, minimumAgeMs: 3 * dayMs });
    expect(chooseTarget(named, builds, seenAt(startedAt, startedAt)).kind).toBe('chosen');
    expect(chooseTarget(patient, builds).kind).toBe('chosen');
  });
});

describe('a held build', () => {
  const held = new Map([[targetBuild, 'tripped the canary of production']]);

  it('is never the target, latest or named, until it is released', () => {
    const why = { kind: 'buildHeld', build: targetBuild, reason: 'tripped the canary of production' };
    expect(chooseTarget(aTarget(), builds, undefined, held)).toEqual({ kind: 'none', why });
    const named = aTarget({ version: targetBuild });
    expect(chooseTarget(named, builds, undefined, held)).toEqual({ kind: 'none', why });
  });
});

describe('an offered build', () => {
  it('is compared by its numbers', () => {
    expect(isOffered('19.525-0', [{ version: '19.525' }])).toBe(true);
    expect(isOffered('19.525-1', [{ version: '19.525' }])).toBe(false);
  });
});
