import { describe, expect, it } from 'vitest';
import { type PolicyDiff, renderDiff, renderDifferent } from '../../../../src/cli/plan/render-diff.ts';
import { makePlan } from '../../../../src/rollout/planning/plan.ts';
import { comparePlan } from '../../../../src/rollout/planning/plan-difference.ts';
import { aFleet, aPolicy, oldBuild, targetBuild } from '../../../support/builders.ts';
import { aRolloutStatus } from '../../../support/fake-operations.ts';

const policy = aPolicy();
const screen = { paint: (_format: unknown, text: string) => text, columns: 80 };

/** A rollout of eight that has upgraded one; since then two came, one died and one was excluded. */
function aDiff(changes: Partial<PolicyDiff> = {}): PolicyDiff {
  const rollout = aRolloutStatus({ targetBuild });
  const members = Array.from({ length: 8 }, (_, index) => ({
    ...{ id: index + 1, name: `collector-${index + 1}`, fromBuild: oldBuild },
    wave: index === 4 ? 'canary' : 'rest',
    state: index === 0 ? ('succeeded' as const) : ('pending' as const),
  }));
  const fleet = aFleet(10, (id) => ({ alive: id !== 7, ...(id === 8 && { osName: 'Mac OS X' }) }));
  const select = { include: {}, exclude: [{ osName: ['Mac*'] }] };
  const plan = makePlan({ ...policy, select }, targetBuild, fleet, rollout.id);
  const difference = comparePlan({ targetBuild, members }, plan);
  return { policy: 'production', rollout, kind: 'compared', plan, difference, ...changes } as PolicyDiff;
}

describe('the difference of a plan for a person', () => {
  it('shows how many collectors a rollout would upgrade, and which are new, gone, moved or left out, and why', () => {
    const { plan } = aDiff() as Extract<PolicyDiff, { kind: 'compared' }>;
    expect(renderDiff(aDiff(), screen).split('\n')).toEqual([
      `production → 19.536-4   plan ${plan.hash}`,
      '           compared with production-20260302-1 (running)',
      'upgrade   7 collectors   1 upgraded already',
      'waves     rest 8',
      'same      5 keep their wave',
      'new       2 (collector-9, collector-10)',
      'gone      not alive: 1 (collector-7)',
      '          excluded: 1 (collector-8)',
      'moved     canary → rest: 1 (collector-5)',
      'left out  not alive: 1 (collector-7)',
      '          excluded: 1 (collector-8)',
    ]);
  });

  it('names every collector that differs, where that is wanted', () => {
    expect(renderDifferent(aDiff())).toEqual([
      '  new  9 collector-9',
      '  new  10 collector-10',
      '  gone  7 collector-7: not alive',
      '  gone  8 collector-8: excluded',
      '  moved  5 collector-5: canary → rest',
    ]);
  });

  it('names the previous target, and a policy without a rollout or a target', () => {
    const rollout = aRolloutStatus({ targetBuild: oldBuild, state: 'succeeded' });
    expect(renderDiff(aDiff({ rollout }), screen)).toContain(`→ ${targetBuild} (was ${oldBuild})`);
    expect(renderDiff(aDiff({ rollout: undefined }), screen)).toContain(
      'no rollout yet: compared with nothing',
    );
    const none: PolicyDiff = {
      policy: 'night',
      rollout: undefined,
      kind: 'noTarget',
      why: { kind: 'noLatest' },
    };
    expect(renderDiff(none, screen)).toBe(
      'night   no rollout yet: compared with nothing\ntarget    the service marks no build as the latest',
    );
  });
});
