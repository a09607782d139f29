import {
  getCollector,
  getCollectorByName,
  listCollectors,
  listOfflineCollectors,
} from '../contract/collector-operations.ts';
import {
  createUpgradeTask,
  getUpgradeTask,
  listUpgradableCollectors,
  listUpgradeTargets,
} from '../contract/upgrade-operations.ts';

/** The part of the API that the reference service plays, in the order in which its routes are matched. */
export const servedOperations = [
  listCollectors,
  listOfflineCollectors,
  listUpgradableCollectors,
  listUpgradeTargets,
  getUpgradeTask,
  createUpgradeTask,
  getCollectorByName,
  getCollector,
] as const;
