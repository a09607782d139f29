import { expect, it } from 'vitest';
import type { ScenarioInput } from '../../src/reference-service/scenario/scenario.ts';
import { expectRefusal, read } from './support/answers.ts';
import { itInProcess } from './support/conditions.ts';
import { createTask, getCollector, getTask, listBuilds, listUpgradable } from './support/resources.ts';
import { aService, useTarget } from './support/target.ts';
import { CollectorList, DownloadList, OneDownload } from './support/wire-shapes.ts';

const target = useTarget();

// A build in between is shown for longer than this; every task has ended after 30 minutes.
const pollEveryMs = 15_000;
const pollsMax = (31 * 60_000) / pollEveryMs;

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
  // The form of a version is checked with the shape of the answer.
  expect((await listBuilds(target().api)).filter(({ latest }) => latest)).toHaveLength(1);
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
  const minor = (version: string) => Number(/\.(\d+)-/.exec(version)?.[1]);
  const [farthest] = (await listUpgradable(api, '?limit=1000')).toSorted(
    (a, b) => minor(a.collectorVersion) - minor(b.collectorVersion),
  );
  if (farthest === undefined) throw new Error('no collector can be upgraded');
  const startedAt = clock.now();
  const task = await createTask(api, farthest.id);
  const versions = [farthest.collectorVersion];
  let tookMs = 0;
  for (let polls = 0; polls < pollsMax; polls++) {
    const { collectorVersion } = await getCollector(api, farthest.id);
    if (versions.at(-1) !== collectorVersion) versions.push(collectorVersion);
    if (tookMs === 0 && (await getTask(api, task)).status === 2) tookMs = clock.now() - startedAt;
    clock.advance(pollEveryMs);
  }
  return { versions, tookMs };
}
