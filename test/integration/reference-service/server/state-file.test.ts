import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { parseScenario, type ScenarioInput } from '../../../../src/reference-service/scenario/scenario.ts';
import {
  type ReferenceServiceParts,
  startReferenceService,
} from '../../../../src/reference-service/server/start-reference-service.ts';
import { StateFileError } from '../../../../src/reference-service/server/state-file.ts';
import {
  aStatusClock,
  openReferenceService,
  type ReferenceSetup,
  type StatusClock,
} from '../../../support/reference-client.ts';

const minuteMs = 60_000;
const root = mkdtempSync(join(tmpdir(), 'upwave-state-'));
let folder: string;
let file: string;
let clock: StatusClock;
beforeEach(() => {
  folder = mkdtempSync(join(root, 'state-'));
  file = join(folder, 'state.json');
  clock = aStatusClock();
});
// Services that end with their test still write to their files.
afterAll(() => rmSync(root, { recursive: true }));

function start(scenario: ScenarioInput = {}, parts: Partial<ReferenceServiceParts> = {}) {
  return openReferenceService(scenario, { state: file, clock, ...parts });
}

/** As a client sees it. */
async function shown({ send }: ReferenceSetup, paths: readonly string[]) {
  const answers = await Promise.all(paths.map((path) => send(path)));
  return answers.map(({ status, body, headers }) => {
    // The id of an error is another one each time.
    const lasting = status === 200 ? body : { ...body, id: '' };
    return { status, body: lasting, etag: headers['etag'] };
  });
}

function createHosted({ send }: ReferenceSetup, stated: object) {
  const body = { collector: { collectorType: 'Hosted', ...stated } };
  return send('/v1/collectors', { method: 'POST', body });
}

describe('--state', () => {
  it('keeps collectors, sources, tasks and builds over a restart', async () => {
    const scenario: ScenarioInput = {
      fleet: { size: 200 },
      events: [{ after: '1m', event: 'appears', newcomers: 2 }],
    };
    const before = await start(scenario);
    const { send, service } = before;
    const [first, second, third] = service.world.upgradableTo('19.536-4').map(({ facts }) => facts.id);
    const created = await createHosted(before, { name: 'ours', madeUp: { a: [1] } });
    const { id } = created.body.collector;
    const sources = `/v1/collectors/${id}/sources`;
    for (const [name, sourceType] of [
      ['logs', 'LocalFile'],
      ['cloud', 'Universal'],
    ]) {
      await send(sources, { method: 'POST', body: { source: { name, sourceType } } });
    }
    const [, cloud] = (await send(sources)).body.sources;
    await send(`${sources}/${cloud.id}`, { method: 'DELETE' });
    const task = await before.create({ collectorId: first });
    service.world.kill(second ?? 0);
    await before.create({ collectorId: second });
    await send(`/v1/collectors/${third}`, { method: 'DELETE' });
    service.world.withdrawBuild('19.533-5');
    clock.advance(minuteMs / 2);
    const paths = [
      '/v1/collectors?limit=1000',
      `/v1/collectors/${id}`,
      `/v1/collectors/${third}`,
      sources,
      `/v1/collectors/${first}/sources`,
      '/v1/collectors/upgrades/targets',
      '/v1/collectors/upgrades/collectors?limit=1000',
      task.body.link.href,
    ];
    const seen = await shown(before, paths);
    await before.close();

    const after = await start(scenario);
    expect(await shown(after, paths)).toEqual(seen);
    expect((await after.create({ collectorId: first })).body.code).toBe('collector.in.upgrading');
    expect((await createHosted(after, { name: 'ours' })).body.code).toBe('DuplicateResourceName');
    const next = await createHosted(after, { name: 'next' });
    expect(next.body.collector.id).toBe(id + 1);
    clock.advance(minuteMs / 2);
    expect(after.service.world.collectors()).toHaveLength(203);
    clock.advance(30 * minuteMs);
    expect((await after.send(sources)).body.sources).toHaveLength(1);
    expect((await after.send(task.body.link.href)).body.upgrade.status).toBeGreaterThan(1);
    expect((await after.create({ collectorId: id })).body.code).toBe('collector.type.invalid');
  });

  it('does not play events of the scenario twice', async () => {
    const events: ScenarioInput['events'] = [{ after: '1m', event: 'appears', newcomers: 2 }];
    const before = await start({ events });
    clock.advance(2 * minuteMs);
    expect(before.service.world.collectors()).toHaveLength(62);
    await before.close();
    expect((await start({ events })).service.world.collectors()).toHaveLength(62);
  });

  it('is written soon after a change, whole, and not again while nothing changes', async () => {
    const setup = await start();
    const text = readFileSync(file, 'utf8');
    await setup.send('/v1/collectors');
    expect(readFileSync(file, 'utf8')).toBe(text);
    await createHosted(setup, { name: 'kept' });
    await expect.poll(() => readFileSync(file, 'utf8')).toContain('"kept"');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ version: 1 });
    expect(readdirSync(folder)).toEqual(['state.json']);
  });

  it('is written at most once a second of real time', async () => {
    const waits: number[] = [];
    let goOn: () => void = () => {};
    const { service } = await start(
      {},
      {
        waitReal: (durationMs) => {
          waits.push(durationMs);
          return new Promise((resolve) => {
            goOn = resolve;
          });
        },
      },
    );
    for (let made = 0; made < 20; made++) service.world.appear();
    expect(waits).toEqual([1_000]);
    const before = readFileSync(file, 'utf8');
    goOn();
    await expect.poll(() => readFileSync(file, 'utf8')).not.toBe(before);
    expect(JSON.parse(readFileSync(file, 'utf8')).worlds.main.collectors).toHaveLength(80);
    goOn();
  });

  it.each(['', '{"format":', '[]', '{"format":"upwave-reference-service","version":2}', 'no JSON'])(
    'names a broken file and never overwrites it: %j',
    async (text) => {
      writeFileSync(file, text);
      await expect(start()).rejects.toThrow(StateFileError);
      await expect(start()).rejects.toThrow(/state\.json: .*the file was not changed/);
      expect(readFileSync(file, 'utf8')).toBe(text);
    },
  );

  it('refuses a file of another fleet, a folder, and a missing folder', async () => {
    await (await start()).close();
    const text = readFileSync(file, 'utf8');
    await expect(start({ fleet: { seed: 'other' } })).rejects.toThrow(
      /seed "1", but the scenario has "other"/,
    );
    expect(readFileSync(file, 'utf8')).toBe(text);
    rmSync(file);
    mkdirSync(file);
    await expect(start()).rejects.toThrow(/can't be read \(EISDIR\)/);
    rmSync(file, { recursive: true });
    file = join(folder, 'none', 'state.json');
    await expect(start()).rejects.toThrow(/can't be written \(ENOENT\)/);
  });

  it('reports a failed write, and continues', async () => {
    const failures: string[] = [];
    const { service, send } = await start({}, { onStateFailure: ({ message }) => failures.push(message) });
    rmSync(file);
    mkdirSync(file);
    service.world.appear();
    await expect.poll(() => failures).toHaveLength(1);
    expect((await send('/v1/collectors')).status).toBe(200);
    rmSync(file, { recursive: true });
  });

  it('advances its clock at its speed while the service is stopped', async () => {
    const realClock = aStatusClock();
    const begin = () =>
      startReferenceService({
        credentials: [{ accessId: 'a', accessKey: 'b' }],
        scenario: parseScenario({ fleet: { size: 3 } }),
        realClock,
        speed: 100,
        state: file,
        waitReal: async () => {},
      });
    const first = await begin();
    realClock.advance(minuteMs);
    const stoppedAt = first.clock.now();
    await first.close();
    realClock.advance(minuteMs);
    const second = await begin();
    expect(second.clock.now() - stoppedAt).toBe(100 * minuteMs);
    await second.close();
  });
});
