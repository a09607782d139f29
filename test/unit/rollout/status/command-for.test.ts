import { expect, it } from 'vitest';
import { leftOutText } from '../../../../src/rollout/messages/exclusions.ts';
import type { LeftOutKind } from '../../../../src/rollout/model/left-out.ts';
import { leftOutCommandOf } from '../../../../src/rollout/status/command-for.ts';

it('names the collectors that a plan leaves out for one reason, where a new plan has that reason', () => {
  const command = (kind: LeftOutKind) =>
    leftOutCommandOf('all servers', { kind, reason: leftOutText[kind], count: 3 });
  expect(command('notAlive')).toBe('upwave plan "all servers" --members | grep -F ": not alive"');
  expect(command('atTarget')).toBeUndefined();
  expect(command('leftFleet')).toBeUndefined();
});
