import { describe, expect, it } from 'vitest';
import { Source } from '../../../../src/contract/collector-management/sources.ts';
import type { ScenarioInput } from '../../../../src/reference-service/scenario/scenario.ts';
import { openReferenceService, refusalWith } from '../../../support/reference-client.ts';

// What the API documents is in the conformance suite. Here is what the reference service answers where it leaves a choice.

/** A service and a Hosted Collector on it. */
async function aCollector(scenario: ScenarioInput = {}) {
  const setup = await openReferenceService(scenario);
  const { send } = setup;
  const created = await send('/v1/collectors', {
    method: 'POST',
    body: { collector: { collectorType: 'Hosted', name: 'ours' } },
  });
  const path = `/v1/collectors/${created.body.collector.id}/sources`;
  const post = (stated: object) =>
    send(path, { method: 'POST', body: { source: { sourceType: 'LocalFile', name: 'logs', ...stated } } });
  const change = async (id: number, edit: (source: Record<string, unknown>) => Record<string, unknown>) => {
    const { body, headers } = await send(`${path}/${id}`);
    return send(`${path}/${id}`, {
      method: 'PUT',
      body: { source: edit(body.source) },
      headers: { 'if-match': String(headers['etag']) },
    });
  };
  return { ...setup, path, post, change };
}

describe('sources of the fleet', () => {
  it('are a few plausible ones, always the same', async () => {
    const { send, service } = await aCollector({ fleet: { size: 100 } });
    const types = new Set<string>();
    for (const { facts } of service.world.collectors()) {
      const path = `/v1/collectors/${facts.id}/sources`;
      const { sources } = (await send(path)).body;
      expect((await send(path)).body.sources).toEqual(sources);
      for (const source of sources) {
        expect(Source.safeParse(source).success).toBe(true);
        types.add(source.sourceType);
      }
    }
    expect([...types].sort()).toEqual(expect.arrayContaining(['HTTP', 'LocalFile', 'SystemStats']));
  });

  it('are alive while their collector is alive (§3)', async () => {
    const { send, service, clock } = await aCollector();
    const [collector] = service.world.upgradableTo('19.536-4');
    const id = collector?.facts.id ?? 0;
    const alive = async () => (await send(`/v1/collectors/${id}/sources`)).body.sources[0].alive;
    expect(await alive()).toBe(true);
    service.world.kill(id);
    clock.advance(31 * 60_000);
    expect(await alive()).toBe(false);
  });
});

describe('writes of sources', () => {
  it('are refused with a code that names the mistake', async () => {
    const { post, send, path } = await aCollector();
    for (const [stated, code] of [
      // Another vendor must sign in for it (§1).
      [{ sourceType: 'VendorOAuth' }, 'InvalidSourceType'],
      [{ id: 7 }, 'createValidationError'],
      [{ name: undefined }, 'service.name.missing'],
      [{ filters: {} }, 'service.filters.invalid'],
      [{ sourceType: 'SystemStats', interval: 'x' }, 'service.interval.invalid'],
      [{ category: 1 }, 'service.category.invalid'],
    ] as const)
      expect(await post(stated)).toMatchObject(refusalWith(400, code));
    expect((await send(path)).body.sources).toEqual([]);
    expect(await send(`${path}?download=maybe`)).toMatchObject(refusalWith(400, 'service.download.invalid'));
    for (const id of ['1', '9223372036854775807'])
      expect(await send(`${path}/${id}`)).toMatchObject(refusalWith(404, 'notfound'));
  });

  it('need each field of the GET where updates are strict', async () => {
    const { post, change } = await aCollector({ strictUpdates: true });
    const { id } = (await post({ category: 'a' })).body.source;
    const answer = await change(id, ({ category: _left, ...rest }) => rest);
    expect(answer).toMatchObject(refusalWith(400, 'service.category.missing'));
  });
});
