import { describe, expect, it } from 'vitest';
import { chooseRollout } from '../../../../src/cli/rollouts/choose-rollout.ts';
import { exitCodes } from '../../../../src/cli/shell/exit-codes.ts';
import type { RolloutStatus } from '../../../../src/contract/admin/rollout-status.ts';
import { awaitsApproval } from '../../../../src/rollout/status/headline.ts';
import type { RolloutVerb } from '../../../../src/rollout/verbs/judge-verb.ts';
import { startedAt } from '../../../support/builders.ts';
import { aRolloutStatus, aWaveStatus } from '../../../support/fake-operations.ts';

const active = (id: string, changes: Partial<RolloutStatus> = {}) => aRolloutStatus({ id, ...changes });
const ended = (id: string, changes: Partial<RolloutStatus> = {}) =>
  active(id, { state: 'succeeded', endedAt: startedAt, ...changes });
const awaiting = (id: string) => active(id, { state: 'awaitingApproval' });

/** The chosen one's id, or the complaint. */
function choose(rollouts: readonly RolloutStatus[], named?: string, verb?: RolloutVerb): string {
  try {
    return chooseRollout(rollouts, named, verb).id;
  } catch (error) {
    expect(error).toMatchObject({ name: 'CommandFailure', exitCode: exitCodes.usageOrConfig });
    return (error as Error).message;
  }
}

describe('the chosen rollout', () => {
  it('is the named one, by its id or as the newest of its policy', () => {
    const rollouts = [active('new'), ended('old')];
    expect(choose(rollouts, 'old')).toBe('old');
    expect(choose(rollouts, 'production')).toBe('new');
    expect(choose(rollouts, 'nobody')).toBe('there is no rollout or policy nobody; running: new');
    expect(choose(rollouts, 'producton')).toBe(
      'there is no rollout or policy producton (did you mean production?); running: new',
    );
    expect(choose(rollouts, 'prod')).toMatch('(did you mean production?)');
  });

  it('is the only running one, where none is named', () => {
    expect(choose([ended('c'), active('b'), ended('a')])).toBe('b');
    expect(choose([active('b'), active('a')])).toBe('name the rollout; running: b, a');
    expect(choose([ended('a')])).toBe('no rollout is running');
  });

  it('is the one that waits, for an approval', () => {
    const rollouts = [active('c', { policy: 'staging' }), awaiting('b'), ended('a')];
    expect(choose(rollouts, undefined, 'approve')).toBe('b');
    expect(choose(rollouts, undefined, 'pause')).toMatch(/^name the rollout/);
    expect(choose([awaiting('b'), awaiting('a')], undefined, 'approve')).toMatch(/^name the rollout/);
    expect(choose([active('b'), ended('a')], undefined, 'approve')).toBe('b');
    expect(choose([active('new'), awaiting('older')], 'production', 'approve')).toBe('older');
    expect(choose([active('new'), awaiting('older')], 'production', 'abort')).toBe('new');
  });

  it('is the newest of the only policy, for a rollback or retry of an ended rollout', () => {
    const rollouts = [ended('b'), ended('a')];
    expect(choose(rollouts, undefined, 'rollback')).toBe('b');
    expect(choose(rollouts, undefined, 'retry')).toBe('b');
    expect(choose(rollouts, undefined, 'abort')).toBe('no rollout is running');
    expect(choose([active('c'), ...rollouts], undefined, 'retry')).toBe('c');
    expect(choose([ended('b'), active('a')], undefined, 'retry')).toBe('a');
    expect(choose([...rollouts, ended('x', { policy: 'staging' })], undefined, 'retry')).toMatch(
      /^name the rollout/,
    );
    expect(choose([], undefined, 'retry')).toMatch(/^name the rollout/);
  });

  it('is the rollback, while a rollout only waits for it', () => {
    const rollback = active('b', { kind: 'rollback', rollbackOf: 'a' });
    const taken = active('a', { state: 'rollingBack', rollbackId: 'b' });
    expect(choose([rollback, taken], undefined, 'pause')).toBe('b');
    expect(choose([taken], undefined, 'pause')).toBe('a');
  });
});

describe('a rollout that waits for approval', () => {
  it.each(['aborted', 'superseded', 'rollingBack'] as const)('no longer waits once it is %s', (state) => {
    const waves = [aWaveStatus({ state: 'awaitingApproval', waits: 'approval' })];
    expect(awaitsApproval(active('a', { state, waves }))).toBe(false);
  });
});
