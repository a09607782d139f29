import { expect, it } from 'vitest';
import { questionLines } from '../../../../src/cli/rollouts/confirm-verb.ts';
import { startedAt } from '../../../support/builders.ts';
import { aRolloutStatus } from '../../../support/fake-operations.ts';

it('a question has a line for each fact, wrapped at words, and ends with the question', () => {
  const fromBuilds = ['19.441-2', '19.456-3', '19.403-1', '19.506-1', '19.525-63', '19.533-5'];
  const status = aRolloutStatus({ state: 'awaitingApproval', fromBuilds });
  const lines = questionLines(status, { verb: 'approve', planHash: '7f3a' }, startedAt, 60);
  expect(lines).toEqual([
    expect.stringMatching(/^Plan 7f3a: /),
    'The collectors run 19.441-2, 19.456-3, 19.403-1, 19.506-1,',
    '  19.525-63, 19.533-5 now.',
    '3 left out: excluded.',
    `Approve plan 7f3a of ${status.id}?`,
  ]);
});
