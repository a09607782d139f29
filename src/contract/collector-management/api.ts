import {
  createCollector,
  deleteCollector,
  deleteOfflineCollectors,
  getCollector,
  getCollectorByName,
  listCollectors,
  listOfflineCollectors,
  updateCollector,
} from './collectors.ts';
import { createSearchJob, deleteSearchJob, getSearchJob, listSearchJobResults } from './search-jobs.ts';
import { createSource, deleteSource, getSource, listSources, updateSource } from './sources.ts';
import {
  createUpgradeTask,
  getUpgradeTask,
  listUpgradableCollectors,
  listUpgradeTargets,
} from './upgrades.ts';

/** Paths are relative to `{base_url}/v1` (collector-api.md, head). */
export const versionPath = '/v1';

/** Every operation of the Collector Management API, in the order in which a server must match them. */
export const collectorManagementApi = [
  listCollectors,
  listOfflineCollectors,
  deleteOfflineCollectors,
  listUpgradableCollectors,
  listUpgradeTargets,
  getUpgradeTask,
  createUpgradeTask,
  getCollectorByName,
  createCollector,
  getCollector,
  updateCollector,
  deleteCollector,
  listSources,
  createSource,
  getSource,
  updateSource,
  deleteSource,
  createSearchJob,
  getSearchJob,
  listSearchJobResults,
  deleteSearchJob,
] as const;
