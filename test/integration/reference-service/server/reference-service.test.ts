import { describe, expect, it } from 'vitest';
import type { ScenarioInput } from '../../../../src/reference-service/scenario/scenario.ts';
import type { ReferenceServiceParts } from '../../../../src/reference-service/server/start-reference-service.ts';
import {
  aStatusClock,
  openReferenceService,
  type ReferenceSetup,
  refusalWith,
} from '../../../support/reference-client.ts';

const minuteMs = 60_000;
const noFailures = { failed: 0, timeout: 0, lost: 0, lostMac: 0 };

function aService(scenario: ScenarioInput = {}, parts: Partial<ReferenceServiceParts> = {}) {
  return openReferenceService({ naturalFailures: noFailures, ...scenario }, parts);
}

const idsOf = (answer: { body: { collectors: Array<{ id: number }> } }) =>
  answer.body.collectors.map(({ id }) => id);

async function upgradableIds({ send }: ReferenceSetup): Promise<[number, ...number[]]> {
  const [first, ...rest] = idsOf(await send('/v1/collectors/upgrades/collectors?limit=1000'));
  if (first === undefined) throw new Error('nothing is upgradable');
  return [first, ...rest];
}

// What the API documents is in the conformance suite. Here is what the reference service adds to it.

describe('answers', () => {
  it('have the time of the service in the Date header, even when it runs faster', async () => {
    const realClock = aStatusClock(Date.UTC(2026, 0, 1));
    const clock = { now: () => realClock.now() + 3_600_000 };
    const { send } = await aService({}, { realClock, clock });
    expect((await send('/v1/collectors')).headers['date']).toBe('Thu, 01 Jan 2026 01:00:00 GMT');
    expect((await send('/v1/nothing')).headers['date']).toBe('Thu, 01 Jan 2026 01:00:00 GMT');
  });
});

describe('builds and upgradable collectors', () => {
  it('flags the latest by the scenario, not by its number, and offers and withdraws at an instant', async () => {
    const { send, clock } = await aService({
      builds: [
        '19.1-1',
        { version: '19.500-1', withdrawnAfter: '10m' },
        { version: '19.2-1', latest: true, offeredAfter: '5m' },
      ],
    });
    const offered = async () =>
      (await send('/v1/collectors/upgrades/targets')).body.targets.map(
        (target: { version: string; latest: boolean }) => target.version + (target.latest ? ' latest' : ''),
      );
    expect(await offered()).toEqual(['19.1-1', '19.500-1 latest']);
    clock.advance(5 * minuteMs);
    expect(await offered()).toEqual(['19.1-1', '19.500-1', '19.2-1 latest']);
    clock.advance(5 * minuteMs);
    expect(await offered()).toEqual(['19.1-1', '19.2-1 latest']);
  });

  it('leaves out offline, hosted, too old ones, those at the target, and unreadable ones', async () => {
    const setup = await aService({ fleet: { size: 1_000 } });
    const listed = new Set(await upgradableIds(setup));
    const all = (await setup.send('/v1/collectors?limit=1000')).body.collectors;
    for (const collector of all) {
      const minor = Number(/^19\.(\d+)-/.exec(collector.collectorVersion)?.[1] ?? Number.NaN);
      const expected =
        collector.collectorType === 'Installable' && collector.alive && minor >= 182 && minor !== 536;
      expect([collector.id, listed.has(collector.id)]).toEqual([collector.id, expected]);
    }
  });
});

describe('sessions', () => {
  it('replace credentials until their lifetime ends', async () => {
    const { send, service, clock } = await aService({
      limits: { signInsPerMinute: 1, sessionLifetime: '10m' },
    });
    const cookie = String((await send('/v1/collectors')).headers['set-cookie']).split(';')[0] ?? '';
    const withCookie = async () =>
      (await send('/v1/collectors', { anonymous: true, headers: { cookie } })).status;
    expect(await withCookie()).toBe(200);
    expect((await send('/v1/collectors')).status).toBe(401);
    expect(service.record.signIns).toEqual({ accepted: 1, wrongKey: 0, throttled: 1 });
    clock.advance(10 * minuteMs);
    expect(await withCookie()).toBe(401);
  });
});

describe('the request rate', () => {
  it('counts real seconds, and speed times as many fit into one', async () => {
    const realClock = aStatusClock();
    const { send } = await aService({ limits: { requestsPerSecond: 4 } }, { realClock, speed: 2 });
    for (let sent = 0; sent < 8; sent++) expect((await send('/v1/collectors')).status).toBe(200);
    expect((await send('/v1/collectors')).status).toBe(429);
    realClock.advance(1_000);
    expect((await send('/v1/collectors')).status).toBe(200);
  });
});

describe('HTTP faults', () => {
  const createOne = async (fault: string) => {
    const httpFaults = [{ operations: ['createUpgradeTask'], share: 1, fault, until: '1h' }];
    const setup = await aService({ httpFaults } as ScenarioInput);
    const [collectorId] = await upgradableIds(setup);
    const answer = await setup.create({ collectorId }).catch(() => undefined);
    return {
      answer,
      isInUpgrade: setup.service.world.isInUpgrade(collectorId),
      record: setup.service.record,
    };
  };

  it.each([
    ['before', '500', { status: 500 }],
    ['before', '503', { status: 503 }],
    ['before', '502html', { status: 502, headers: { 'content-type': expect.stringContaining('text/html') } }],
    ['before', '429', { status: 429, body: { errors: [expect.anything()] } }],
    ['before', '401', { status: 401 }],
    ['before', 'cutOff', undefined],
    ['after', 'answerLost', undefined],
    ['after', 'cutOffMidBody', undefined],
    ['after', '500AfterWork', { status: 500 }],
    ['after', 'brokenJson', { status: 202, body: undefined }],
  ])('strike %s the request is carried out: %s', async (when, fault, expected) => {
    const { answer, isInUpgrade, record } = await createOne(fault);
    if (expected === undefined) expect(answer).toBeUndefined();
    else expect(answer).toMatchObject(expected);
    expect(isInUpgrade).toBe(when === 'after');
    const { creates, faults } = record.snapshot();
    expect([creates.length, faults]).toEqual([when === 'after' ? 1 : 0, { [fault]: 1 }]);
  });

  it('show lists without rows, or always the same part of them, and know no collector', async () => {
    const { send } = await aService({
      httpFaults: [
        { operations: ['listUpgradableCollectors'], share: 1, fault: 'emptyList' },
        { operations: ['listCollectors'], share: 1, fault: 'partialList', keeps: 0.5 },
        { operations: ['getCollector'], share: 1, fault: '404' },
      ],
    });
    const shown = async (path: string) => idsOf(await send(path));
    expect(await shown('/v1/collectors/upgrades/collectors')).toEqual([]);
    const part = await shown('/v1/collectors?limit=1000');
    expect(part.length).toBeGreaterThan(0);
    const pages = [await shown('/v1/collectors?limit=9'), await shown('/v1/collectors?offset=9&limit=991')];
    expect(pages.flat()).toEqual(part);
    const { body } = await send('/reference/record');
    expect(body).toMatchObject({ faults: { emptyList: 1, partialList: 3 } });
    expect(await send(`/v1/collectors/${part[0]}`)).toMatchObject({
      status: 404,
      body: { code: 'InvalidCollector' },
    });
  });

  it('show lists in another order at each request, the same for the same seed', async () => {
    const orders = async () => {
      const { send } = await aService({
        httpFaults: [{ operations: ['listCollectors'], share: 1, fault: 'shuffledList' }],
      });
      return [idsOf(await send('/v1/collectors')), idsOf(await send('/v1/collectors'))];
    };
    const [first = [], second = []] = await orders();
    expect(first).not.toEqual(second);
    expect(new Set(first)).toEqual(new Set(second));
    expect(await orders()).toEqual([first, second]);
  });

  it('end with their time, and strike the same requests for the same seed', async () => {
    const run = async () => {
      const { send, clock } = await aService({ httpFaults: [{ share: 0.5, fault: '500', until: '1h' }] });
      const seen: number[] = [];
      for (let sent = 0; sent < 20; sent++) seen.push((await send('/v1/collectors?limit=1')).status);
      clock.advance(60 * minuteMs);
      for (let sent = 0; sent < 5; sent++) expect((await send('/v1/collectors?limit=1')).status).toBe(200);
      return seen;
    };
    const first = await run();
    expect(new Set(first)).toEqual(new Set([200, 500]));
    expect(await run()).toEqual(first);
  });
});

describe('a fault that a request asks for', () => {
  it('strikes it and no other', async () => {
    const setup = await aService();
    const [collectorId] = await upgradableIds(setup);
    const headers = { 'reference-fault': '500AfterWork', 'content-type': 'application/json' };
    const body = JSON.stringify({ collectorId });
    const answer = await setup.send('/v1/collectors/upgrades', { method: 'POST', headers, body });
    expect(answer.status).toBe(500);
    expect(setup.service.world.isInUpgrade(collectorId)).toBe(true);
    expect((await setup.send('/v1/collectors')).status).toBe(200);
    expect(setup.service.record.snapshot().faults).toEqual({ '500AfterWork': 1 });
  });

  it('is refused where there is none of that name', async () => {
    const { send } = await aService();
    const answer = await send('/v1/collectors', { headers: { 'reference-fault': '502' } });
    expect(answer).toMatchObject(refusalWith(400, 'fault.invalid'));
    expect(answer.body.message).toContain('502html');
  });
});

describe('latency', () => {
  const waitsWith = async (latency: ScenarioInput['latency'], speed = 1) => {
    const waits: number[] = [];
    const waitReal = async (durationMs: number) => void waits.push(durationMs);
    const { send } = await aService({ latency }, { waitReal, speed });
    for (let sent = 0; sent < 99; sent += 1) await send('/v1/collectors?limit=1');
    return waits.toSorted((a, b) => a - b);
  };

  it('is drawn for each request around its median, in the time of the service', async () => {
    const waits = await waitsWith({ median: '200ms', p95: '1s' });
    expect(waits[49]).toBeGreaterThan(120);
    expect(waits[49]).toBeLessThan(330);
    expect(waits.at(-1)).toBeGreaterThan(600);
    expect(await waitsWith({ median: '200ms', p95: '1s' }, 10)).toEqual(waits.map((waitMs) => waitMs / 10));
  });

  it('is nothing unless the scenario has it', async () => {
    expect(await waitsWith(null)).toEqual([]);
  });
});

describe('GET /reference/record', () => {
  it('shows what clients did, behind the same credentials, without counting itself', async () => {
    const setup = await aService();
    const ids = await upgradableIds(setup);
    for (const collectorId of ids.slice(0, 3)) await setup.create({ collectorId });
    // What is in an upgrade is not upgradable.
    expect(await upgradableIds(setup)).toEqual(ids.slice(3));
    setup.clock.advance(31 * minuteMs);
    await setup.create({ collectorId: ids[0] });
    expect((await setup.send('/reference/record', { anonymous: true })).status).toBe(401);
    const { body } = await setup.send('/reference/record');
    expect(body).toMatchObject({
      createsPerCollector: { [ids[0]]: 2 },
      needlessCreates: 1,
      tasksInFlight: 1,
      tasksInFlightMax: 3,
      requests: { 'listUpgradableCollectors 200': 2, 'createUpgradeTask 202': 4 },
      throttled: { rate: 0, concurrency: 0, fault: 0 },
      requestsInOneSecondMax: 5,
    });
    expect(body.creates).toHaveLength(4);
  });
});
