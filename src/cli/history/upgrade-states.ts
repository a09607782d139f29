import { InvalidArgumentError } from 'commander';
import { nearestText } from '../../base/names.ts';
import { failedStates, type UpgradeState, upgradeStates } from '../../rollout/model/upgrade.ts';

/** `failed` means all that count as failures, as everywhere; else the states as they are called. @throws InvalidArgumentError */
export function statesOf(text: string): readonly UpgradeState[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.length === 1 && names[0] === 'failed') return failedStates;
  return names.map((name) => {
    const state = upgradeStates.find((each) => each.toLowerCase() === name.toLowerCase());
    if (state !== undefined) return state;
    const nearest = nearestText(name, upgradeStates);
    const hint = nearest === undefined ? upgradeStates.join(', ') : `did you mean ${nearest}?`;
    throw new InvalidArgumentError(`no state is called ${name}: ${hint}`);
  });
}
