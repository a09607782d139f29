import type { EtaUnknownReason } from '../../base/vocabulary.ts';

/** Why the end of a rollout is unknown. */
export const etaUnknownWords: Readonly<Record<EtaUnknownReason, string>> = {
  account: 'this daemon may not work on its account',
  collectors: 'it waits for deferred collectors',
  ending: 'running upgrades are watched to their end',
  held: 'it is held',
  newerVersion: 'a newer upwave wrote it',
  inventory: 'the inventory is not plausible',
  noWindow: 'its windows have no room for it',
  paused: 'it is paused',
  policyMissing: 'its policy is not in the config',
  rollingBack: 'it is rolling back',
  serviceDown: 'the service is down',
  windowTooShort:
    'nothing can start: no window is open as long as an upgrade takes, by `upgrade.expect` or by those before. Widen `windows`',
};
