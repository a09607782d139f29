import type { EtaUnknownReason } from '../../base/vocabulary.ts';

/** Why the end of a rollout is not known. */
export const etaUnknownWords: Readonly<Record<EtaUnknownReason, string>> = {
  account: 'it is not known to belong to this account',
  collectors: 'deferred collectors are waited for',
  ending: 'running upgrades are watched to their end',
  held: 'it is held',
  newerVersion: 'a newer upwave has written it',
  inventory: 'the inventory is not plausible',
  noWindow: 'its windows have no room for it',
  paused: 'it is paused',
  rollingBack: 'it is rolled back',
  serviceDown: 'the service is down',
};
