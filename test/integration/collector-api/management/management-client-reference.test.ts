import { afterEach, describe, expect, it } from 'vitest';
import { makeManagementClient } from '../../../../src/collector-api/management/management-client.ts';
import {
  isConflict,
  isRefusedWith,
  type KnownCode,
} from '../../../../src/collector-api/wire/client-refusals.ts';
import { makeServiceClient } from '../../../../src/collector-api/wire/service-client.ts';
import { makeLocalApiBudget } from '../../../../src/daemon/api-budgets.ts';
import type { Answer } from '../../../../src/orchestrator/ports/fleet-service.ts';
import type { CollectorFacts } from '../../../../src/reference-service/fleet/simulated-collector.ts';
import type { ScenarioInput } from '../../../../src/reference-service/scenario/scenario.ts';
import { aReferenceService } from '../../../support/reference-client.ts';

let ends: Array<() => Promise<void>> = [];

afterEach(async () => {
  await Promise.all(ends.map((end) => end()));
  ends = [];
});

async function aManagement(scenario: ScenarioInput = {}, key = { accessId: 'anid', accessKey: 'akey' }) {
  const setup = await aReferenceService(scenario);
  const client = makeServiceClient({
    baseUrl: setup.service.baseUrl,
    ...key,
    allowedHosts: [],
    requestTimeoutMs: 5_000,
    budget: makeLocalApiBudget(10_000),
    clock: setup.clock,
    random: () => 0.5,
  });
  ends.push(async () => {
    await client.close();
    await setup.close();
  });
  const management = makeManagementClient({ client, sleep: async () => {}, pageSize: 7 });
  const find = (is: (facts: CollectorFacts) => boolean): number => {
    const found = setup.service.world.collectors().find(({ facts }) => is(facts));
    if (found === undefined) throw new Error('the fleet has none of this kind');
    return found.facts.id;
  };
  return { ...setup, management, find };
}

function must<T>(answer: Answer<T>): T {
  if (!answer.ok) throw new Error(`failed: ${JSON.stringify(answer.failure)}`);
  return answer.value;
}

function expectCode(answer: Answer<unknown>, code: KnownCode): void {
  expect(answer).toMatchObject({ ok: false });
  expect(!answer.ok && isRefusedWith(answer.failure, code), JSON.stringify(answer)).toBe(true);
}

const nginx = { name: 'nginx', sourceType: 'LocalFile', pathExpression: '/var/log/*.log', denylist: [] };

describe('management client and reference service', () => {
  it('follows a hosted collector from its creation to its end', async () => {
    const { management } = await aManagement();
    const { collectors } = management;
    const created = must(
      await collectors.create({
        name: 'Köln 1.example',
        category: 'prod',
        fields: { team: 'core' },
        ownField: [1],
      }),
    );
    expect(created).toMatchObject({ collectorType: 'Hosted', category: 'prod', ownField: [1] });
    const { resource, etag } = must(await collectors.getByName('Köln 1.example'));
    expect(resource).toEqual(created);
    expect(must(await collectors.get(created.id))).toEqual({ resource, etag });

    const changed = must(
      await collectors.change(created.id, ({ fields }) => ({
        description: 'd',
        fields: { ...Object(fields), tier: 'a' },
      })),
    );
    expect(changed.after).toMatchObject({
      description: 'd',
      fields: { team: 'core', tier: 'a' },
      ownField: [1],
    });
    expect(must(await collectors.change(created.id, () => ({ description: 'd' }))).isChanged).toBe(false);

    const stale = await collectors.update({ ...resource, category: 'dev' }, etag ?? '');
    expect(!stale.ok && isConflict(stale.failure)).toBe(true);
    expect(must(await collectors.get(created.id)).resource['category']).toBe('prod');

    expect(must(await collectors.delete(created.id))).toBeNull();
    expectCode(await collectors.get(created.id), 'InvalidCollector');
    expectCode(await collectors.delete(created.id), 'InvalidCollector');
    expectCode(await collectors.getByName('Köln 1.example'), 'InvalidCollector');
  });

  it('tells who may only look that they may not write', async () => {
    const viewer = { accessId: 'aViewer', accessKey: 'vkey' };
    const { management, find } = await aManagement({ keys: [{ ...viewer, may: 'view' }] }, viewer);
    const id = find(({ collectorType }) => collectorType === 'Installable');
    expect(must(await management.collectors.get(id)).resource.id).toBe(id);
    expectCode(await management.collectors.create({ name: 'x' }), 'CannotModifyCollector');
    expectCode(await management.collectors.change(id, () => ({ category: 'x' })), 'CannotModifyCollector');
    expectCode(await management.collectors.delete(id), 'CannotModifyCollector');
    expect(await management.sources.create(id, nginx)).toMatchObject({ failure: { kind: 'misconfigured' } });
  });

  it('follows a source from its creation to its end', async () => {
    const { management } = await aManagement();
    const { sources, collectors } = management;
    const { id: collectorId } = must(await collectors.create({ name: 'one' }));
    const created = must(await sources.create(collectorId, { ...nginx, ownField: { a: 1 } }));
    const place = { collectorId, sourceId: created.id ?? 0 };
    expect(must(await sources.list(collectorId))).toEqual([created]);
    const { resource, etag } = must(await sources.get(place));
    expect(resource).toEqual(created);

    const changed = must(await sources.change(place, () => ({ category: 'prod' })));
    expect(changed.after).toMatchObject({ category: 'prod', ownField: { a: 1 } });
    const stale = await sources.update(place, { source: resource, etag: etag ?? '' });
    expect(!stale.ok && isConflict(stale.failure)).toBe(true);

    const document = must(await sources.downloadAll(collectorId));
    expect(document).toMatchObject({ 'api.version': 'v1', sources: [{ ...nginx, category: 'prod' }] });
    expect(JSON.stringify(document)).not.toMatch(/"(id|alive)":/);
    expect(must(await sources.download(place))).toMatchObject({ 'api.version': 'v1', source: nginx });

    expect(must(await sources.delete(place))).toBeNull();
    expect(await sources.get(place)).toMatchObject({ failure: { kind: 'notFound' } });
  });

  it('upgrades one by hand, and tells why not', async () => {
    const { management, find } = await aManagement({ fleet: { size: 60, shares: { hosted: 0.1 } } });
    const { upgrades } = management;
    const latest = must(await upgrades.listTargets()).find((target) => target.latest === true);
    const [one, other] = must(await upgrades.listUpgradable());
    const task = { collectorId: one?.id ?? 0, toVersion: latest?.version ?? '' };
    const { id } = must(await upgrades.createTask(task));
    expect(must(await upgrades.getTask(id))).toMatchObject({ id, collectorId: one?.id });
    expectCode(await upgrades.createTask(task), 'collector.in.upgrading');
    expectCode(await upgrades.createTask({ collectorId: 999_999_999 }), 'collector.invalid');
    const hosted = find(({ collectorType }) => collectorType === 'Hosted');
    expectCode(await upgrades.createTask({ collectorId: hosted }), 'collector.type.invalid');
    expectCode(
      await upgrades.createTask({ collectorId: other?.id ?? 0, toVersion: '1.1-1' }),
      'collector.version.invalid',
    );
    const [dead] = must(await management.collectors.list('dead'));
    expectCode(await upgrades.createTask({ collectorId: dead?.id ?? 0 }), 'collector.not.alive');
    expect(await upgrades.getTask('123456789')).toMatchObject({ failure: { kind: 'notFound' } });
  });

  it('follows a search job by the cookie of its creation', async () => {
    const { management, clock } = await aManagement();
    const { searchJobs } = management;
    const { id } = must(await searchJobs.create({ query: '*' })) as { id: string };
    clock.advance(60_000);
    expect(must(await searchJobs.get(id))).toMatchObject({ id });
    const page = { searchJobId: id, results: 'messages', offset: 0, limit: 2 };
    expect(must(await searchJobs.listResults(page))).toMatchObject({ count: 2 });
  });
});
