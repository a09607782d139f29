import { expect, it } from 'vitest';
import type { ScenarioInput } from '../../src/reference-service/scenario/scenario.ts';
import { expectRefusal, read } from './support/answers.ts';
import { itInProcess } from './support/conditions.ts';
import { useControlledServices, useTarget } from './support/target.ts';
import {
  BuildVersionShape,
  CollectorList,
  CreatedUpgradeShape,
  DownloadList,
  OneCollector,
  OneDownload,
  TargetList,
} from './support/wire-shapes.ts';

const target = useTarget();
const aService = useControlledServices();

// A build in between is shown for longer than this; every task has ended after 30 minutes.
const lookEveryMs = 15_000;
const looksMax = (31 * 60_000) / lookEveryMs;

it('§9.1 the version is part of the path: paths are under /v1', async () => {
  const { api } = target();
  read(CollectorList, await api.get('/v1/collectors?limit=1', { unversioned: true }));
});

itInProcess.each(['/collectors', '/v2/collectors', '/v1/v1/collectors'])(
  '§9.1 nothing is served at %s',
  async (path) => {
    expectRefusal(await target().api.get(path, { unversioned: true }), { status: 404 });
  },
);

it('§9.2 downloaded documents carry api.version v1, other answers do not', async () => {
  const { api, own } = target();
  const { id } = await own.create();
  const { id: sourceId } = await own.createSource(id);
  const path = `/collectors/${id}/sources`;
  expect(read(DownloadList, await api.get(`${path}?download=true`))['api.version']).toBe('v1');
  expect(read(OneDownload, await api.get(`${path}/${sourceId}?download=true`))['api.version']).toBe('v1');
  for (const plain of [path, `${path}/${sourceId}`]) {
    expect((await api.get(plain)).text).not.toContain('api.version');
  }
});

it('§9.3 builds are <major>.<minor>-<build>, and exactly one is the latest', async () => {
  const { targets } = read(TargetList, await target().api.get('/collectors/upgrades/targets'));
  for (const { version } of targets) BuildVersionShape.parse(version);
  expect(targets.filter(({ latest }) => latest)).toHaveLength(1);
});

itInProcess('§9.3 every build on offer can be the target of a task', async () => {
  const { api } = await aService();
  const { targets } = read(TargetList, await api.get('/collectors/upgrades/targets'));
  const { collectors } = read(CollectorList, await api.get('/collectors/upgrades/collectors'));
  for (const [index, { version: toVersion }] of targets.entries()) {
    const body = { collectorId: collectors[index]?.id, toVersion };
    expect([toVersion, (await api.post('/collectors/upgrades', body)).status]).toEqual([toVersion, 202]);
  }
});

itInProcess('§9.4 an upgrade in increments passes builds in between, and takes longer', async () => {
  const durations = { median: '5m', p95: '6m' };
  const increments = { incrementFromBuildsBehind: 2, incrementFactor: 2 };
  const [direct, inSteps] = [
    await upgradeFar({ ...durations, incrementFromBuildsBehind: null }),
    await upgradeFar({ ...durations, ...increments }),
  ];
  expect(direct.versions).toHaveLength(2);
  expect(inSteps.versions.length).toBeGreaterThan(2);
  expect(inSteps.versions.at(-1)).toBe(direct.versions.at(-1));
  expect(inSteps.tookMs).toBeGreaterThan(direct.tookMs);
});

/** Upgrades the collector that is farthest behind, and watches its build until the task has ended. */
async function upgradeFar(durations: NonNullable<ScenarioInput['durations']>) {
  const { api, clock } = await aService({ durations });
  const { collectors } = read(CollectorList, await api.get('/collectors/upgrades/collectors?limit=1000'));
  const minor = (version: string) => Number(/\.(\d+)-/.exec(version)?.[1]);
  const [farthest] = collectors.sort((a, b) => minor(a.collectorVersion) - minor(b.collectorVersion));
  const collectorId = farthest?.id;
  const startedAt = clock.now();
  const { id } = read(CreatedUpgradeShape, await api.post('/collectors/upgrades', { collectorId }));
  const versions = [farthest?.collectorVersion];
  let tookMs = 0;
  for (let looks = 0; looks < looksMax; looks++) {
    const { collectorVersion } = read(OneCollector, await api.get(`/collectors/${collectorId}`)).collector;
    if (versions.at(-1) !== collectorVersion) versions.push(collectorVersion);
    const ended = / ?"status":2/.test((await api.get(`/collectors/upgrades/${id}`)).text);
    if (ended && tookMs === 0) tookMs = clock.now() - startedAt;
    clock.advance(lookEveryMs);
  }
  return { versions, tookMs };
}
