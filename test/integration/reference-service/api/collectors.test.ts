import { describe, expect, it } from 'vitest';
import type { ScenarioInput } from '../../../../src/reference-service/scenario/scenario.ts';
import { openReferenceService, refusalWith } from '../../../support/reference-client.ts';

// What the API documents is in the conformance suite. Here is what the reference service answers where it leaves a choice.

const hourMs = 3_600_000;

async function aService(scenario: ScenarioInput = {}) {
  const setup = await openReferenceService(scenario);
  const { send } = setup;
  const post = (collector: unknown) => send('/v1/collectors', { method: 'POST', body: { collector } });
  const get = (id: number) => send(`/v1/collectors/${id}`);
  /** Reads, edits, writes. */
  const change = async (
    id: number,
    edit: (collector: Record<string, unknown>) => Record<string, unknown>,
    ifMatch?: (etag: string) => string,
  ) => {
    const { body, headers } = await get(id);
    const etag = String(headers['etag']);
    return send(`/v1/collectors/${id}`, {
      method: 'PUT',
      body: { collector: edit(body.collector) },
      headers: { 'if-match': ifMatch?.(etag) ?? etag },
    });
  };
  const create = async (stated: object = {}) =>
    (await post({ collectorType: 'Hosted', name: 'ours', ...stated })).body.collector;
  const installedId = () => setup.service.world.upgradableTo('19.536-4')[0]?.facts.id ?? 0;
  return { ...setup, post, get, change, create, installedId };
}

describe('a create of a collector', () => {
  it('takes a cutoff relative to now', async () => {
    const { create, clock } = await aService();
    expect(await create({ cutoffRelativeTime: '-2d' })).toMatchObject({
      cutoffRelativeTime: '-2d',
      cutoffTimestamp: clock.now() - 48 * hourMs,
    });
  });

  it('is refused for a field with an impossible value, and creates no collector', async () => {
    const { post, service } = await aService();
    const before = service.world.collectors().length;
    for (const [stated, code] of [
      [{ id: 5 }, 'createValidationError'],
      [{ collectorType: 'hosted' }, 'InvalidCollectorType'],
      [{ name: undefined }, 'service.name.missing'],
      [{ name: '' }, 'service.name.invalid'],
      [{ hostName: 'h'.repeat(129) }, 'service.hostName.invalid'],
      [{ fields: { a: 1 } }, 'service.fields.invalid'],
      [{ ephemeral: 'true' }, 'service.ephemeral.invalid'],
      // The mode is for Installed ones.
      [{ sourceSyncMode: 'Json' }, 'service.sourceSyncMode.invalid'],
      [{ targetCpu: 1.5 }, 'service.targetCpu.invalid'],
      [{ cutoffTimestamp: -1 }, 'service.cutoffTimestamp.invalid'],
      [{ cutoffRelativeTime: '2d' }, 'service.cutoffRelativeTime.invalid'],
    ] as const)
      expect(await post({ collectorType: 'Hosted', name: 'ours', ...stated })).toMatchObject(
        refusalWith(400, code),
      );
    expect(service.world.collectors()).toHaveLength(before);
  });
});

describe('an update of a collector', () => {
  it('accepts only the quoted ETag, and reports what is wrong with another', async () => {
    const { change, installedId } = await aService();
    const put = (ifMatch: (etag: string) => string) =>
      change(installedId(), (shown) => ({ ...shown, category: 'a' }), ifMatch);
    for (const [ifMatch, status, code] of [
      [() => '', 400, 'service.ifthen.missing'],
      [(etag) => etag.replaceAll('"', ''), 400, 'service.ifthen.notquoted'],
      [() => '*', 400, 'service.ifthen.notquoted'],
      [(etag) => `W/${etag}`, 412, 'service.etagid.mismatch'],
    ] as ReadonlyArray<readonly [(etag: string) => string, number, string]>)
      expect(await put(ifMatch)).toMatchObject(refusalWith(status, code));
  });

  it('names the field that it refuses', async () => {
    const { change, installedId } = await aService();
    for (const [stated, code] of [
      [{ id: 'x' }, 'BadRequestCollectorId'],
      [{ osName: 'BeOS' }, 'service.osName.notmodifiable'],
      [{ cutoffRelativeTime: '-1d' }, 'service.cutoffRelativeTime.notmodifiable'],
      [{ sourceSyncMode: 'XML' }, 'service.sourceSyncMode.invalid'],
      [{ name: undefined }, 'service.name.missing'],
    ] as const)
      expect(await change(installedId(), (shown) => ({ ...shown, ...stated }))).toMatchObject(
        refusalWith(400, code),
      );
  });

  it('needs every field stated where the scenario is strict', async () => {
    const { create, change } = await aService({ strictUpdates: true });
    const { id } = await create();
    for (const field of [
      'description',
      'fields',
      'targetCpu',
      'cutoffTimestamp',
      'alive',
      'collectorVersion',
    ])
      expect(await change(id, ({ [field]: _left, ...rest }) => rest), field).toMatchObject(
        refusalWith(400, `service.${field}.missing`),
      );
    expect((await change(id, (shown) => shown)).status).toBe(200);
  });
});

describe('a delete of collectors', () => {
  it('lets the task of a deleted collector time out (§3)', async () => {
    const { clock, send, create, installedId } = await aService();
    await create();
    const collectorId = installedId();
    const { body } = await send('/v1/collectors/upgrades', { method: 'POST', body: { collectorId } });
    await send(`/v1/collectors/${collectorId}`, { method: 'DELETE' });
    clock.advance(hourMs / 2);
    expect((await send(`/v1/collectors/upgrades/${body.id}`)).body.upgrade.status).toBe(3);
  });

  it('deletes the offline ones one after the other, and spares one that comes back before its turn', async () => {
    const { send, clock, service } = await aService({
      fleet: { size: 200, shares: { dead: 1, ephemeral: 0 } },
    });
    const offline = () => service.world.offlineCollectors(1);
    const before = offline().length;
    const back = offline().at(-1)?.facts.id ?? 0;
    await send('/v1/collectors/offline?aliveBeforeDays=1', { method: 'DELETE' });
    expect(offline()).toHaveLength(before);
    clock.advance(5_100);
    expect(offline().length).toBeLessThan(before);
    service.world.revive(back);
    expect(offline().length).toBeGreaterThan(0);
    clock.advance(hourMs);
    expect(offline()).toHaveLength(0);
    service.world.kill(back);
    clock.advance(hourMs);
    expect((await send(`/v1/collectors/${back}`)).body.collector.alive).toBe(false);
  });
});
