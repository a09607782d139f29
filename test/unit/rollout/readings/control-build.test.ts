import { describe, expect, it } from 'vitest';
import { chooseControlBuild, isControlListWhole } from '../../../../src/rollout/readings/control-build.ts';

describe('the control build', () => {
  const upgrades = [
    { fromBuild: '19.1-1', toBuild: '19.9-1' },
    { fromBuild: '19.1-1', toBuild: '19.9-1' },
    { fromBuild: '19.2-1', toBuild: '19.8-1' },
  ];

  it.each<[string, readonly string[], string | undefined]>([
    ['the newest that nobody comes from or goes to', ['19.3-1', '19.10-1', '19.4-1', '19.9-1'], '19.10-1'],
    ['the one that fewest come from', ['19.1-1', '19.2-1', '19.9-1'], '19.2-1'],
    ['none where all are targets', ['19.8-1', '19.9-1'], undefined],
    ['none where nothing is on offer', [], undefined],
  ])('is %s', (_which, offered, expected) => {
    expect(chooseControlBuild(offered, upgrades)).toBe(expected);
  });

  it('has a complete list when it shows at least half of the upgraded collectors, of which there must be five', () => {
    expect(isControlListWhole({ inInventory: 4, listed: 4 })).toBeUndefined();
    expect(isControlListWhole({ inInventory: 6, listed: 2 })).toBe(false);
    expect(isControlListWhole({ inInventory: 6, listed: 3 })).toBe(true);
  });
});
