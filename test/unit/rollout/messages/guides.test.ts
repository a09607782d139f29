import { describe, expect, it } from 'vitest';
import type { RolloutStatus } from '../../../../src/contract/admin/rollout-status.ts';
import { loadGuide } from '../../../../src/docs/load-guides.ts';
import { guideOfIncident, guideOfRollout, linkedSections } from '../../../../src/rollout/messages/guides.ts';
import { startedAt } from '../../../support/builders.ts';
import { aRolloutStatus } from '../../../support/fake-operations.ts';

const buildHold = { build: '19.536-4', by: 'alice', reason: 'crashes', at: startedAt };
const stratumHeld = { kind: 'stratumHeld', reason: 'a stratum is held', until: null } as const;

describe('the section of a guide about what is wrong', () => {
  it('exists', () => {
    const anchors = new Map(
      ['alerts', 'incidents'].map((name) => [
        name,
        loadGuide({ name, answers: '' }).sections.map(({ anchor }) => anchor),
      ]),
    );
    expect(linkedSections.length).toBeGreaterThan(12);
    expect(linkedSections.filter(({ guide, anchor }) => !anchors.get(guide)?.includes(anchor))).toEqual([]);
  });

  it.each<[RolloutStatus['headline']['kind'], Partial<RolloutStatus>, string | undefined]>([
    ['held', { state: 'held' }, 'UpwaveRolloutHeld'],
    ['needsApproval', {}, 'UpwaveRolloutAwaitsApproval'],
    ['needsApproval', { state: 'awaitingApproval', buildHold }, 'UpwaveBuildHeld'],
    ['policyMissing', {}, 'UpwavePolicyMissing'],
    ['newerVersion', {}, 'a-newer-upwave-wrote-a-rollout'],
    ['waitsForService', {}, 'UpwaveServiceDown'],
    ['running', { blockers: [stratumHeld] }, 'UpwaveStratumHeld'],
    ['running', { blockers: [] }, undefined],
    ['paused', {}, undefined],
    ['succeeded', {}, undefined],
  ])('is that of the cause for a rollout: %s %o', (kind, changes, anchor) => {
    const headline = { kind, needsPerson: true };
    expect(guideOfRollout({ ...aRolloutStatus(), ...changes, headline })?.anchor).toBe(anchor);
  });

  it('is that of the cause for an incident, also where an older version stored it', () => {
    const held = { event: 'held', reason: 'x' } as const;
    expect(guideOfIncident(held)?.anchor).toBe('UpwaveRolloutHeld');
    expect(guideOfIncident({ ...held, headline: 'otherAccount' })?.anchor).toBe('UpwaveForeignRollout');
    expect(guideOfIncident({ event: 'noProgress', since: 0 })?.anchor).toBe('UpwaveNoProgress');
  });
});
