import type { collectorManagementApi } from '../../contract/collector-management/api.ts';
import type { ExampleExchange } from '../../http/openapi.ts';

const installed = {
  id: 100000001,
  name: 'web-01',
  collectorType: 'Installable',
  description: null,
  category: 'prod/web',
  hostName: 'web-01',
  timeZone: 'Etc/UTC',
  fields: { team: 'web' },
  ephemeral: false,
  sourceSyncMode: 'UI',
  targetCpu: -1,
  cutoffTimestamp: 0,
  osName: 'Linux',
  osVersion: '5.15.0-1031-aws',
  osArch: 'amd64',
  osTime: 864000000,
  alive: true,
  lastSeenAlive: 1795953585000,
  collectorVersion: '19.533-5',
  links: [{ rel: 'sources', href: '/v1/collectors/100000001/sources' }],
};
const periodName = 'web-02.example.com';
const offline = { ...installed, alive: false, lastSeenAlive: 1782820800000 };
const collectorToCreate = {
  collectorType: 'Hosted',
  name: 'checkout',
  category: 'prod/checkout',
  fields: { team: 'checkout' },
};
const hosted = {
  id: 150000001,
  ...collectorToCreate,
  description: null,
  hostName: null,
  timeZone: null,
  targetCpu: null,
  ephemeral: false,
  cutoffTimestamp: 0,
  alive: true,
  collectorVersion: '',
  links: [{ rel: 'sources', href: '/v1/collectors/150000001/sources' }],
};
const ofHosted = { collectorId: hosted.id };

const sourceToCreate = { sourceType: 'HTTP', name: 'checkout events', category: 'prod/checkout' };
const source = {
  id: 5000000001,
  ...sourceToCreate,
  url: 'https://collectors.example.com/receiver/v1/http/c0ffee',
  token: 'c0ffee',
  baseUrl: 'https://collectors.example.com',
  alive: true,
};
const ofSource = { ...ofHosted, sourceId: source.id };

const taskId = '1000000001';
const toVersion = '19.536-4';
const search = {
  query: '_collector="web-01" | count by _collector',
  from: '2026-11-29T10:00:00',
  to: '2026-11-29T11:00:00',
  timeZone: 'Etc/UTC',
};
const searchJobId = '37589506F194FC80';

type Documented = (typeof collectorManagementApi)[number]['name'] | 'getCollectorByNameWithPeriod';

/** What the document of the API shows for each operation. Optional parameters that change nothing here are left out. */
export const exampleExchanges: Readonly<Record<Documented, ExampleExchange>> = {
  listCollectors: { parameters: { filter: 'installed' }, answer: { collectors: [installed] } },
  listOfflineCollectors: { parameters: { aliveBeforeDays: 100 }, answer: { collectors: [offline] } },
  getCollector: { parameters: { id: installed.id }, answer: { collector: installed } },
  getCollectorByName: { parameters: { name: installed.name }, answer: { collector: installed } },
  getCollectorByNameWithPeriod: {
    parameters: { name: periodName },
    answer: { collector: { ...installed, name: periodName } },
  },
  createCollector: { body: { collector: collectorToCreate }, answer: { collector: hosted } },
  updateCollector: {
    parameters: { id: hosted.id },
    body: { collector: { ...hosted, description: 'Receives orders' } },
    answer: { collector: { ...hosted, description: 'Receives orders' } },
  },
  deleteCollector: { parameters: { id: hosted.id } },
  deleteOfflineCollectors: {
    parameters: { aliveBeforeDays: 100 },
    answer: { message: 'The delete task has been initiated.' },
  },
  listSources: { parameters: ofHosted, answer: { sources: [source] } },
  createSource: { parameters: ofHosted, body: { source: sourceToCreate }, answer: { source } },
  getSource: { parameters: ofSource, answer: { source } },
  updateSource: {
    parameters: ofSource,
    body: { source: { ...source, category: 'prod/orders' } },
    answer: { source: { ...source, category: 'prod/orders' } },
  },
  deleteSource: { parameters: ofSource },
  listUpgradableCollectors: { parameters: { toVersion }, answer: { collectors: [installed] } },
  listUpgradeTargets: {
    answer: {
      targets: [
        { version: '19.533-5', latest: false },
        { version: toVersion, latest: true },
      ],
    },
  },
  createUpgradeTask: {
    body: { collectorId: installed.id, toVersion },
    answer: { id: taskId, link: { rel: 'self', href: `/v1/collectors/upgrades/${taskId}` } },
  },
  getUpgradeTask: {
    parameters: { upgradeTaskId: taskId },
    answer: {
      upgrade: {
        id: Number(taskId),
        collectorId: installed.id,
        toVersion,
        requestTime: 1795953600000,
        status: 2,
        message: '',
      },
    },
  },
  createSearchJob: {
    body: search,
    answer: { id: searchJobId, link: { rel: 'self', href: `/v1/search/jobs/${searchJobId}` } },
  },
  getSearchJob: {
    parameters: { searchJobId },
    answer: {
      id: searchJobId,
      state: 'DONE GATHERING RESULTS',
      resultCount: 250,
      messageCount: 250,
      recordCount: 1,
      pendingErrors: [],
      pendingWarnings: [],
      request: search,
    },
  },
  listSearchJobResults: {
    parameters: { searchJobId, results: 'records' },
    answer: { offset: 0, count: 1, records: [{ map: { _collector: 'web-01', _count: '1800' } }] },
  },
  deleteSearchJob: { parameters: { searchJobId }, answer: { id: searchJobId } },
};
