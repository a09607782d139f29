import { describe, expect, it } from 'vitest';
import { chooseControlBuilds, isControlListWhole } from '../../../../src/rollout/readings/control-build.ts';

describe('the control build', () => {
  const targets = ['19.8-1', '19.9-1'];
  const collectorsOn = (build: string) => ({ '19.1-1': 2, '19.2-1': 1 })[build] ?? 0;

  it.each<[string, readonly string[], string | undefined, string | undefined]>([
    [
      'the newest that nobody runs or goes to',
      ['19.3-1', '19.10-1', '19.4-1', '19.9-1'],
      '19.10-1',
      '19.4-1',
    ],
    ['the one that fewest run', ['19.1-1', '19.2-1', '19.9-1'], '19.2-1', '19.1-1'],
    ['the only one that is no target, with a target in turn', ['19.1-1', '19.9-1'], '19.1-1', '19.9-1'],
    ['none where all are targets', ['19.8-1', '19.9-1'], undefined, undefined],
    ['none where nothing is on offer', [], undefined, undefined],
  ])('is %s', (_which, offered, control, other) => {
    const chosen = chooseControlBuilds(offered, targets, collectorsOn);
    expect([chosen?.control, chosen?.other]).toEqual([control, other]);
  });

  it('has a complete list when it shows at least half of the upgraded collectors, of which there must be five', () => {
    expect(isControlListWhole({ inInventory: 4, listed: 4 })).toBeUndefined();
    expect(isControlListWhole({ inInventory: 6, listed: 2 })).toBe(false);
    expect(isControlListWhole({ inInventory: 6, listed: 3 })).toBe(true);
  });
});
