import { describe, expect, it } from 'vitest';
import { unansweredMax } from '../../../../src/collector-api/wire/service-circuit.ts';
import { sendWithinMs } from '../../../../src/orchestrator/ports/fleet-service.ts';
import { createTask } from '../../../support/create-task.ts';
import {
  type Script,
  type SeenRequest,
  sendCutOff,
  sendJson,
  sendText,
} from '../../../support/network/scripted-server.ts';
import {
  aCollectorApi,
  accessId,
  accessKey,
  type CollectorApiSetup,
} from '../../../support/setup/collector-api-setup.ts';
import { until } from '../../../support/until.ts';

const date = 'Sat, 21 Nov 2026 12:00:05 GMT';
const dateMs = Date.UTC(2026, 10, 21, 12, 0, 5);
const collector = (id: number, more: object = {}) => ({
  id,
  name: `c${id}`,
  alive: true,
  collectorVersion: '19.1-1',
  ...more,
});
const lookAt = (collectorId: number) => ({ collectorId, upgradableTo: null, urgent: false });
const target = { collectorId: 1, toBuild: '19.500-1' };

function pageOf(rows: readonly unknown[], { query }: SeenRequest) {
  const offset = Number(query.get('offset'));
  return { collectors: rows.slice(offset, offset + Number(query.get('limit'))) };
}

/** A service whose lists are these rows, read in pages of this size. */
function aList(rows: readonly unknown[], pageSize = 10) {
  const script: Script = (request, response) =>
    sendJson(response, 200, pageOf(rows, request), { 'set-cookie': 's=1' });
  return aCollectorApi(script, { pageSize });
}

/** @returns the ids on each page that the watch is shown, and the answer */
async function showUpgradable({ fleet }: CollectorApiSetup) {
  const pages: string[] = [];
  const answer = await fleet.readUpgradable('19.500-1', async ({ collectors }) => {
    pages.push(collectors.map(({ id }) => id).join(' '));
  });
  return { pages: pages.filter((page) => page !== ''), answer };
}

describe('the fleet service', () => {
  describe('creating a task', () => {
    it('reserves a place in the API budget, writes the intent, sends the request, and returns the place', async () => {
      const { fleet, server, budget } = await aCollectorApi((_request, response) =>
        sendJson(response, 202, { id: '9223372036854775807', link: { rel: 'self', href: '/x' }, extra: 1 }),
      );
      const order: unknown[] = [];
      const answer = await createTask(fleet, target, async () => {
        order.push(budget.taken.at(-1), budget.held(), server.requests.length);
        return true;
      });
      expect(answer).toEqual({ ok: true, value: { taskId: '9223372036854775807' } });
      expect(order).toEqual(['create', 1, 0]);
      expect(JSON.parse(server.requests[0]?.text ?? '')).toEqual({ collectorId: 1, toVersion: '19.500-1' });
      expect(budget.held()).toBe(0);
    });

    it('sends nothing when the intent could not be written', async () => {
      const { fleet, server, budget, seen } = await aCollectorApi(() => {});
      const answer = await createTask(fleet, target, async () => false);
      expect(answer).toEqual({ ok: false, failure: { kind: 'cancelled', sent: false } });
      expect(server.requests).toEqual([]);
      expect(seen).toEqual([]);
      expect(budget.held()).toBe(0);
    });

    it.each<[string, Script]>([
      ['the connection is cut before the answer', (_request, response) => void response.destroy()],
      ['the answer is cut off', (_request, response) => sendCutOff(response, 202)],
      ['a gateway answers 502 with HTML', (_request, response) => sendText(response, 502, '<html>')],
      ['the answer is broken JSON', (_request, response) => sendText(response, 202, '{"id": ')],
      ['no answer comes', () => {}],
    ])('is in doubt when %s', async (_name, script) => {
      // Long enough to leave on a machine that has other work to do: what has not left is in no doubt.
      const { fleet, budget } = await aCollectorApi(script, { requestTimeoutMs: 500 });
      const answer = await createTask(fleet, target);
      expect(answer).toMatchObject({ ok: false, failure: { kind: 'unavailable', sent: true } });
      expect(budget.held()).toBe(0);
    });

    it('is throttled, and not in doubt, when a 429 is cut off', async () => {
      const { fleet, budget } = await aCollectorApi((_request, response) => sendCutOff(response, 429));
      expect(await createTask(fleet, target)).toMatchObject({ failure: { kind: 'throttled' } });
      expect(budget.pauses).toHaveLength(1);
    });

    it.each([
      [
        'flat',
        { status: 400, id: 'A', code: 'collector.not.alive', message: 'Not running.' },
        'collector.not.alive',
      ],
      ['a list', { id: 'A', errors: [{ code: 'collector.in.upgrading' }] }, 'collector.in.upgrading'],
      ['of an unknown code', { code: 'brand.new', surprise: [] }, 'brand.new'],
      ['of an unknown shape', { oops: true }, 'status.400'],
      ['no object', 17, 'status.400'],
    ])('is refused with its code when the error body is %s', async (_name, body, code) => {
      const { fleet } = await aCollectorApi((_request, response) => sendJson(response, 400, body));
      expect(await createTask(fleet, target)).toMatchObject({ failure: { kind: 'refused', code } });
    });

    it('gives the text of a refusal in one line, cut to whole characters', async () => {
      const detailOf = async (message: string) => {
        const body = { code: 'odd', message };
        const { fleet } = await aCollectorApi((_request, response) => sendJson(response, 400, body));
        const answer = await createTask(fleet, target);
        return !answer.ok && 'detail' in answer.failure ? answer.failure.detail : undefined;
      };
      expect(await detailOf('a\r\nfake\u001b line\u202e😀')).toBe(
        'createUpgradeTask: answered 400 (odd: a fake line😀).',
      );
      // 200 in all, with "odd: ".
      expect(await detailOf(`${'x'.repeat(194)}😀`)).toBe(
        `createUpgradeTask: answered 400 (odd: ${'x'.repeat(194)}).`,
      );
    });

    it.each([403, 415])('is a misconfiguration with a remedy when answered %i', async (status) => {
      const { fleet } = await aCollectorApi((_request, response) =>
        sendJson(response, status, { code: 'forbidden' }),
      );
      const answer = await createTask(fleet, target);
      expect(answer).toMatchObject({ failure: { kind: 'misconfigured' } });
      expect(JSON.stringify(answer)).toMatch(/Give|Check/);
    });

    const inBetween = { kind: 'unavailable', sent: true } as const;
    const itself = { kind: 'misconfigured' } as const;
    const html = 'text/html';

    it.each([
      [400, html, '<html>Request blocked</html>', inBetween],
      [403, 'text/html; charset=utf-8', '<html>Request blocked</html>', inBetween],
      [403, 'text/plain', '<html>Request blocked</html>', inBetween],
      [413, undefined, '<html>Request blocked</html>', inBetween],
      [403, html, '', itself],
      [403, undefined, '', itself],
      [403, undefined, 'Forbidden', itself],
    ])(
      'answered %i with %s and "%s" comes from a gateway, or from the service: %o (P13)',
      async (status, type, text, failure) => {
        const headers = type === undefined ? {} : { 'content-type': type };
        const { fleet, budget } = await aCollectorApi((_request, response) =>
          sendText(response, status, text, headers),
        );
        for (let time = 1; time <= unansweredMax; time += 1)
          expect(await createTask(fleet, target)).toMatchObject({ failure });
        expect(budget.standings).toEqual(
          failure === itself ? [] : [expect.stringContaining(`answered ${status} with a page`)],
        );
      },
    );

    it('reports to its place when it leaves, after its intent (P8)', async () => {
      const { fleet, budget } = await aCollectorApi((_request, response) =>
        sendJson(response, 202, { id: '1', link: { rel: 'self', href: '/x' } }),
      );
      const seen: number[] = [];
      const answer = await createTask(fleet, target, async () => {
        seen.push(budget.lefts());
        return true;
      });
      expect(answer).toMatchObject({ ok: true });
      expect([...seen, budget.lefts()]).toEqual([0, 1]);
      await createTask(fleet, target, async () => false);
      expect(budget.lefts()).toBe(1);
    });

    it('is not sent when it finds no connection within a second of its intent (P4)', async () => {
      let isAsked = false;
      let intentAt = Number.POSITIVE_INFINITY;
      const { fleet, server, budget } = await aCollectorApi(
        async (request, response) => {
          if (request.method === 'POST')
            return sendJson(response, 202, { id: '1', link: { rel: 'self', href: '/x' } });
          // The only connection is taken until the create could not leave in time any more.
          if (isAsked) await until('its time to run out', () => performance.now() > intentAt + sendWithinMs);
          sendJson(response, 200, { targets: [] });
        },
        { connectionsMax: 1 },
      );
      await fleet.listBuilds();
      isAsked = true;
      const listing = fleet.listBuilds();
      const intend = async () => {
        intentAt = performance.now();
        return true;
      };
      const late = await createTask(fleet, target, intend);
      expect(late).toEqual({ ok: false, failure: { kind: 'cancelled', sent: false } });
      expect(await listing).toMatchObject({ ok: true });
      expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(0);
      expect(budget.standings).toEqual([]);
      expect(await createTask(fleet, target)).toMatchObject({ ok: true });
    });
  });

  describe('polling', () => {
    it('reads a task, with an unknown status and the clock of the service', async () => {
      const { fleet, server, seen } = await aCollectorApi((_request, response) =>
        sendText(response, 200, '{"upgrade": {"id": 9223372036854775807, "status": 5, "new": {}}}', { date }),
      );
      expect(await fleet.pollTask('9223372036854775807')).toEqual({
        ok: true,
        value: { status: 5, message: '', serviceAt: dateMs },
      });
      expect(server.requests[0]?.path).toBe('/api/v1/collectors/upgrades/9223372036854775807');
      expect(seen).toMatchObject([
        { operation: 'getUpgradeTask', status: 200, budgetWaitMs: 7, budgetClass: 'poll' },
      ]);
    });

    it('reads a task that has only a status, and a build that has only a version (P13)', async () => {
      const odd = { requestTime: 'today', message: { text: 'x' }, toVersion: 1, collectorId: '7' };
      const { fleet } = await aCollectorApi((request, response) =>
        request.path.endsWith('/targets')
          ? sendJson(response, 200, { targets: [{ version: '19.1-1', latest: null }] })
          : request.method === 'POST'
            ? sendJson(response, 202, { id: 5, link: null })
            : sendJson(response, 200, { upgrade: { id: 1, status: 3, ...odd } }),
      );
      expect(await fleet.pollTask('1')).toMatchObject({ value: { status: 3, message: '' } });
      expect(await fleet.listBuilds()).toMatchObject({ value: [{ version: '19.1-1', latest: false }] });
      expect(await createTask(fleet, target)).toEqual({ ok: true, value: { taskId: '5' } });
    });

    it('ignores a Date header that jumps (P10, P14)', async () => {
      let offMs = 0;
      const { fleet, clock } = await aCollectorApi(({ path }, response) => {
        const headers = { date: new Date(clock.now() + offMs).toUTCString() };
        if (path.endsWith('/t')) return sendJson(response, 200, { upgrade: { id: 't', status: 2 } }, headers);
        return sendJson(response, 200, { collectors: [collector(1)] }, headers);
      });
      const times = async () => {
        clock.set(clock.now() + 15_000);
        return [await fleet.pollTask('t'), await fleet.readInventory(null)];
      };
      const at = (serviceAt: number | null) => ({ ok: true, value: { serviceAt } });
      expect(await times()).toMatchObject([at(clock.now()), at(clock.now())]);
      offMs = -6 * 60_000;
      expect(await times()).toMatchObject([at(null), at(null)]);
    });

    it('treats a 404 as a deleted resource, but not the 404 page of a gateway', async () => {
      let isPage = false;
      const { fleet } = await aCollectorApi((_request, response) =>
        isPage ? sendText(response, 404, '<html>') : sendJson(response, 404, { code: 'notfound' }),
      );
      const look = lookAt(4);
      expect(await fleet.pollTask('1')).toMatchObject({ failure: { kind: 'notFound' } });
      expect(await fleet.pollCollector(look)).toMatchObject({ failure: { kind: 'notFound' } });
      expect(await fleet.listBuilds()).toMatchObject({ failure: { kind: 'misconfigured' } });
      isPage = true;
      expect(await fleet.pollCollector(look)).toMatchObject({ failure: { kind: 'unavailable' } });
    });

    it('treats the code for an unknown collector as deleted, whatever the HTTP status', async () => {
      const { fleet } = await aCollectorApi((_request, response) =>
        sendJson(response, 400, { code: 'collectors.collector.invalid' }),
      );
      const answer = await fleet.pollCollector(lookAt(4));
      expect(answer).toMatchObject({ failure: { kind: 'notFound' } });
    });

    it('reads a collector with few fields', async () => {
      const { fleet, budget } = await aCollectorApi((_request, response) =>
        sendJson(response, 200, { collector: { id: 4, name: 'c4', hostName: null, odd: [1] } }, { date }),
      );
      const answer = await fleet.pollCollector({ collectorId: 4, upgradableTo: null, urgent: true });
      expect(answer).toEqual({
        ok: true,
        value: { build: '', alive: false, lastSeenAlive: null, serviceAt: dateMs, upgradable: null },
      });
      expect(budget.taken).toEqual(['verify']);
    });
  });

  describe('asking whether a collector is upgradable', () => {
    const look = (collectorId: number) => ({ collectorId, upgradableTo: '19.500-1', urgent: false });
    const isList = ({ path }: SeenRequest) => path.endsWith('/upgrades/collectors');

    it.each([
      ['is not alive', { alive: false }],
      // The list may be refused by now.
      ['shows the build already', { collectorVersion: '19.500-1' }],
    ])('sends no request for a collector that %s', async (_what, shown) => {
      const { fleet, server } = await aCollectorApi((_request, response) =>
        sendJson(response, 200, { collector: collector(1, shown) }),
      );
      expect(await fleet.pollCollector(look(1))).toMatchObject({ value: { upgradable: false } });
      expect(server.requests).toHaveLength(1);
    });

    it('treats a collector as not upgradable when the build was withdrawn, and keeps the other answer (P9)', async () => {
      const { fleet } = await aCollectorApi((request, response) =>
        isList(request)
          ? sendJson(response, 400, { errors: [{ code: 'collector.version.invalid', message: 'no' }] })
          : sendJson(response, 200, { collector: collector(1) }, { 'set-cookie': 's=1' }),
      );
      expect(await fleet.pollCollector(look(1))).toMatchObject({
        value: { build: collector(1).collectorVersion, upgradable: false, isBuildRefused: true },
      });
    });

    it('returns when the upgrade was on offer, by the clock of the service, rounded up to a second (P1)', async () => {
      const dates = ['Sat, 21 Nov 2026 12:00:07 GMT', 'Sat, 21 Nov 2026 12:00:09 GMT'];
      const { fleet } = await aCollectorApi(
        (request, response) =>
          isList(request)
            ? sendJson(
                response,
                200,
                {
                  collectors: request.url.includes('offset=0')
                    ? [collector(1), collector(2)]
                    : [collector(2)],
                },
                { date: dates[request.url.includes('offset=0') ? 0 : 1] ?? '' },
              )
            : sendJson(response, 200, { collector: collector(Number(request.path.split('/').at(-1))) }),
        { pageSize: 2 },
      );
      const answers = [await fleet.pollCollector(look(2)), await fleet.pollCollector(look(3))];
      const reported = answers.map(
        (answer) => answer.ok && [answer.value.upgradable, answer.value.offeredAt],
      );
      expect(reported).toEqual([
        [true, Date.parse('2026-11-21T12:00:10Z')],
        [false, undefined],
      ]);
      const again = await fleet.pollCollector({ ...look(2), listedSince: 0 });
      expect(again.ok && again.value.offeredAt).toBe(Date.parse('2026-11-21T12:00:10Z'));
    });

    it('uses a list that was read since the given instant, where it names the collector (P1)', async () => {
      const { fleet, server, clock } = await aCollectorApi((request, response) =>
        isList(request)
          ? sendJson(response, 200, { collectors: [collector(2)] })
          : sendJson(response, 200, { collector: collector(Number(request.path.split('/').at(-1))) }),
      );
      const listsFor = async (of: ReturnType<typeof look> & { readonly listedSince?: number }) => {
        const before = server.requests.filter(isList).length;
        const answer = await fleet.pollCollector(of);
        return [answer.ok && answer.value.upgradable, server.requests.filter(isList).length - before];
      };
      // A list of one row costs two requests: the second one shows that no row follows.
      const at = clock.now();
      expect(await listsFor({ ...look(2), listedSince: at })).toEqual([true, 2]);
      expect(await listsFor({ ...look(2), listedSince: at })).toEqual([true, 0]);
      expect(await listsFor({ ...look(1), listedSince: at })).toEqual([false, 2]);
      expect(await listsFor({ ...look(2), listedSince: at + 1 })).toEqual([true, 2]);
      expect(await listsFor({ ...look(2), upgradableTo: '19.500-2', listedSince: at })).toEqual([true, 2]);
      expect(await listsFor(look(2))).toEqual([true, 2]);
    });

    it('continues the shared reading for other callers when one caller aborts', async () => {
      const held: Array<() => void> = [];
      let isHolding = true;
      const { fleet } = await aCollectorApi((request, response) => {
        if (!isList(request)) {
          return sendJson(response, 200, { collector: collector(1) }, { 'set-cookie': 's=1' });
        }
        const answer = () => sendJson(response, 200, { collectors: [collector(1)] });
        if (isHolding) held.push(answer);
        else answer();
        return undefined;
      });
      const giveUp = new AbortController();
      const [gone, stays] = [fleet.pollCollector(look(1), giveUp.signal), fleet.pollCollector(look(1))];
      await expect.poll(() => held.length).toBeGreaterThan(0);
      giveUp.abort();
      expect(await gone).toMatchObject({ failure: { kind: 'cancelled' } });
      isHolding = false;
      held[0]?.();
      expect(await stays).toMatchObject({ value: { upgradable: true } });
    });
  });

  describe('reading the fleet', () => {
    const fleetRows = Array.from({ length: 25 }, (_, index) => collector(index + 1));

    it('reads all pages of the inventory, then of the upgradable list', async () => {
      const { fleet, server, budget, clock } = await aCollectorApi(
        (request, response) =>
          sendJson(
            response,
            200,
            pageOf(
              request.path.endsWith('/upgrades/collectors') ? fleetRows.slice(0, 12) : fleetRows,
              request,
            ),
            { 'set-cookie': 's=1', date },
          ),
        { pageSize: 10 },
      );
      const answer = await fleet.readFleet('19.500-1');
      if (!answer.ok) throw new Error('expected a snapshot');
      expect(answer.value.readAt).toBe(clock.now());
      expect(answer.value.collectors.map(({ id }) => id)).toEqual(fleetRows.map(({ id }) => id));
      expect([...answer.value.upgradableIds]).toEqual(fleetRows.slice(0, 12).map(({ id }) => id));
      expect(answer.value.offeredAt).toBeGreaterThan(answer.value.serviceAt ?? Number.POSITIVE_INFINITY);
      expect(server.requests.map(({ url }) => url)).toEqual([
        '/api/v1/collectors?filter=installed&offset=0&limit=10',
        '/api/v1/collectors?filter=installed&offset=9&limit=10',
        '/api/v1/collectors?filter=installed&offset=18&limit=10',
        '/api/v1/collectors/upgrades/collectors?toVersion=19.500-1&offset=0&limit=10',
        '/api/v1/collectors/upgrades/collectors?toVersion=19.500-1&offset=9&limit=10',
      ]);
      expect(new Set(budget.taken)).toEqual(new Set(['page']));
    });

    it('passes each page to the watch as it arrives, with its own clock, before verifications and polls', async () => {
      const { fleet, server, budget } = await aCollectorApi(
        (request, response) => {
          const second = server.requests.length + 4;
          sendJson(
            response,
            200,
            pageOf([{ id: 0, name: 'h', collectorType: 'Hosted' }, ...fleetRows], request),
            {
              date: `Sat, 21 Nov 2026 12:00:0${second} GMT`,
            },
          );
        },
        { pageSize: 10 },
      );
      const reported: unknown[] = [];
      const answer = await fleet.readInventory(async ({ collectors, serviceAt }) => {
        reported.push([server.requests.length, collectors.map(({ id }) => id).join(' '), serviceAt]);
      });
      expect(answer.ok && answer.value.collectors).toHaveLength(25);
      expect(reported).toEqual([
        [1, '1 2 3 4 5 6 7 8 9', dateMs],
        [2, '9 10 11 12 13 14 15 16 17 18', dateMs + 1_000],
        [3, '18 19 20 21 22 23 24 25', dateMs + 2_000],
      ]);
      expect(budget.taken).toEqual(['verify', 'verify', 'verify']);
    });

    it('retries no page for the watch, which has already received the pages before the failed one', async () => {
      const { fleet, server } = await aCollectorApi(
        (request, response) => {
          if (server.requests.length === 2) sendText(response, 503, 'later');
          else sendJson(response, 200, pageOf(fleetRows, request));
        },
        { pageSize: 10 },
      );
      let shown = 0;
      const answer = await fleet.readInventory(async ({ collectors }) => {
        shown += collectors.length;
      });
      expect(answer).toMatchObject({ ok: false, failure: { kind: 'unavailable' } });
      expect([shown, server.requests.length]).toEqual([10, 2]);
    });

    it('rarely requests a page after a full last page', async () => {
      const { fleet, server } = await aList(fleetRows.slice(0, 10));
      const requests: number[] = [];
      for (let reading = 0; reading < 11; reading += 1) {
        const before = server.requests.length;
        await fleet.readInventory(async () => {});
        requests.push(server.requests.length - before);
      }
      expect(requests).toEqual([2, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1]);
    });

    it('passes the upgradable list to the watch page by page, and checks once where a short page ends', async () => {
      const api = await aList(fleetRows.slice(0, 14));
      const { server, budget } = api;
      const pages = ['1 2 3 4 5 6 7 8 9 10', '11 12 13 14'];
      expect(await showUpgradable(api)).toEqual({
        pages,
        answer: { ok: true, value: { pages: 3, isInOrder: true } },
      });
      expect(await showUpgradable(api)).toEqual({
        pages,
        answer: { ok: true, value: { pages: 2, isInOrder: true } },
      });
      expect(server.requests.every(({ query }) => query.get('toVersion') === '19.500-1')).toBe(true);
      expect(new Set(budget.taken)).toEqual(new Set(['verify']));
    });

    it('reads all of the upgradable list of a service that gives fewer rows than a page asks for', async () => {
      const api = await aCollectorApi(
        (request, response) => {
          const { collectors } = pageOf(fleetRows, request);
          sendJson(response, 200, { collectors: collectors.slice(0, 4) });
        },
        { pageSize: 10 },
      );
      for (const _reading of ['the first', 'the second'])
        expect((await showUpgradable(api)).pages.join(' ')).toBe(fleetRows.map(({ id }) => id).join(' '));
    });

    it('shows that a list has no stable order when a page repeats other rows than those that moved to it', async () => {
      const orderOf = async (second: readonly number[]) => {
        const pages = [[1, 2, 3, 4], second, []];
        const script: Script = (_request, response) =>
          sendJson(response, 200, {
            collectors: (pages.shift() ?? []).map((id) => ({ id, name: `c${id}` })),
          });
        const { answer } = await showUpgradable(await aCollectorApi(script, { pageSize: 4 }));
        return answer.ok && answer.value.isInOrder;
      };
      expect(await orderOf([5, 6, 7])).toBe(true);
      expect(await orderOf([3, 4, 5])).toBe(true);
      expect(await orderOf([4, 2, 5])).toBe(false);
      expect(await orderOf([5, 1, 6])).toBe(false);
    });

    it('rarely requests a page after a short page of a growing upgradable list', async () => {
      const rows: { readonly id: number; readonly name: string }[] = [];
      const { fleet, server } = await aCollectorApi(
        (request, response) => {
          // Once between two pages, too, which does not make the first one the longest.
          const isGrowing = rows.length < 2 || request.query.get('offset') === '0';
          if (isGrowing) rows.push({ id: rows.length + 1, name: `c${rows.length}` });
          sendJson(response, 200, pageOf(rows, request));
        },
        { pageSize: 40 },
      );
      const asked: number[] = [];
      for (let reading = 0; reading < 32; reading += 1) {
        const before = server.requests.length;
        await fleet.readUpgradable('19.500-1', async () => {});
        if (server.requests.length - before > 1) asked.push(reading);
      }
      expect(asked).toEqual([0, 30]);
    });

    it('leaves hosted collectors out, and fills missing fields', async () => {
      const rows = [
        { id: 1, name: 'h', collectorType: 'Hosted' },
        { id: 2, name: 'i', fields: null, surprise: {} },
      ];
      const { fleet } = await aList(rows);
      const answer = await fleet.readFleet('19.500-1');
      expect(answer.ok && answer.value.collectors).toEqual([
        {
          id: 2,
          name: 'i',
          category: '',
          hostName: '',
          osName: '',
          osArch: '',
          build: '',
          alive: false,
          lastSeenAlive: undefined,
          ephemeral: false,
          sourceSyncMode: '',
          timeZone: '',
          fields: {},
        },
      ]);
    });

    it('treats odd values as missing, and reads all others (P13)', async () => {
      const odd = {
        alive: null,
        ephemeral: 'no',
        links: null,
        collectorType: 7,
        osTime: 'a while',
        targetCpu: '20%',
        lastSeenAlive: 'yesterday',
        fields: ['a', 1],
        category: { a: 1 },
      };
      const rows = [collector(1), collector(2, odd)];
      const { fleet } = await aCollectorApi((request, response) =>
        request.path.endsWith('/2')
          ? sendJson(response, 200, { collector: rows[1] })
          : sendJson(response, 200, pageOf(rows, request)),
      );
      expect(await fleet.readFleet('19.500-1')).toMatchObject({
        value: { collectors: [{ id: 1 }, { id: 2 }], upgradableIds: new Set([1, 2]) },
      });
      expect(await fleet.findCollector('2')).toMatchObject({ ok: true, value: { id: 2, name: 'c2' } });
      const look = lookAt(2);
      expect(await fleet.pollCollector(look)).toMatchObject({
        value: { build: '19.1-1', alive: false, lastSeenAlive: null },
      });
    });

    it('leaves rows without an id or a name out of plans, reports how many, and reads all rows behind them', async () => {
      const rows: unknown[] = Array.from({ length: 25 }, (_, index) => collector(index + 1));
      rows[3] = { name: 'no id' };
      rows[9] = { id: 'ten', name: 'c10' };
      rows[12] = null;
      rows[20] = collector(21, { name: null });
      const { fleet, unreadable } = await aList(rows);
      const ids = Array.from({ length: 25 }, (_, index) => index + 1).filter(
        (id) => ![4, 10, 13].includes(id),
      );
      const answer = await fleet.readFleet('19.500-1');
      expect(answer.ok && answer.value.collectors.map(({ id }) => id)).toEqual(ids.filter((id) => id !== 21));
      expect(answer.ok && [...answer.value.upgradableIds]).toEqual(ids);
      expect(unreadable).toEqual([4]);
      // A collector that is being upgraded needs no name.
      const inventory = await fleet.readInventory(null);
      expect(inventory.ok && inventory.value.collectors.map(({ id }) => id)).toEqual(ids);
    });

    it('treats a deeply nested row as unreadable, and continues (P13)', async () => {
      const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
      const odd = `{"id":1,"name":"c1","fields":{"a":${deep}}}`;
      const body = `{"collectors":[${odd},{"id":2,"name":"c2"}]}`;
      const { fleet, budget, unreadable } = await aCollectorApi(({ query }, response) =>
        sendText(response, 200, query.get('offset') === '0' ? body : '{"collectors":[{"id":2,"name":"c2"}]}'),
      );
      const answer = await fleet.readInventory(null);
      expect(answer.ok && answer.value.collectors.map(({ id }) => id)).toEqual([2]);
      expect(unreadable).toEqual([1]);
      // The service is there.
      expect(budget.standings).toEqual([]);
    });

    it.each([
      ['is retried after a transient error', 3, { ok: true }, [1_000, 2_000, 4_000]],
      // After a bounded number of tries.
      ['that fails every retry fails the whole reading', 99, { ok: false }, [1_000, 2_000, 4_000, 8_000]],
    ])('a second page %s', async (_what, times, expected, rests) => {
      let failures = times;
      const { fleet, slept } = await aCollectorApi(
        (request, response) => {
          if (request.query.get('offset') === '0' || failures === 0)
            return sendJson(response, 200, pageOf(fleetRows, request), { 'set-cookie': 's=1' });
          failures -= 1;
          return failures === 1 ? void response.destroy() : sendText(response, 502, '<html>');
        },
        { pageSize: 10 },
      );
      expect(await fleet.readFleet('19.500-1')).toMatchObject(expected);
      expect(slept).toEqual(rests);
    });

    it('does not retry a permanent error', async () => {
      const { fleet, server } = await aCollectorApi((_request, response) =>
        sendJson(response, 403, { code: 'forbidden' }),
      );
      expect(await fleet.readFleet('19.500-1')).toMatchObject({ failure: { kind: 'misconfigured' } });
      expect(server.requests).toHaveLength(1);
    });
  });

  describe('texts that are stored', () => {
    const basic = Buffer.from(`${accessId}:${accessKey}`).toString('base64');
    const secret = `${accessKey} ${basic} ${encodeURIComponent(basic)} theSessionCookie-1`;
    const long = `a ${secret} ${'x'.repeat(10_000)}`;
    const cookie = { 'set-cookie': 'session=theSessionCookie-1' };
    const row = collector(1, {
      name: long,
      collectorVersion: long,
      fields: { [long]: { deep: long } },
    });
    const script: Script = ({ path }, response) => {
      if (path.endsWith('/targets')) return sendJson(response, 200, { targets: [{ version: long }] }, cookie);
      if (path.includes('/upgrades/t'))
        return sendJson(response, 200, { upgrade: { id: 1, status: 3, message: long } });
      return sendJson(response, 200, path.endsWith('/1') ? { collector: row } : { collectors: [row] });
    };

    it.each<[string, (fleet: CollectorApiSetup['fleet']) => Promise<unknown>]>([
      ['a build on offer', (fleet) => fleet.listBuilds()],
      ['a message', (fleet) => fleet.pollTask('t')],
      ['a sighting', (fleet) => fleet.pollCollector(lookAt(1))],
      ['an inventory', (fleet) => fleet.readInventory(null)],
      ['a found collector', (fleet) => fleet.findCollector('1')],
    ])('of %s contain no secret, and are bounded (P12)', async (_what, ask) => {
      const { fleet } = await aCollectorApi(script);
      await fleet.listBuilds();
      const answer = await ask(fleet);
      expect(answer).toMatchObject({ ok: true });
      const text = JSON.stringify(answer);
      expect(text).toContain('a *** *** *** *** xxx');
      expect(text.length).toBeLessThan(6_000);
      for (const hidden of [accessKey, basic, 'theSessionCookie']) expect(text).not.toContain(hidden);
    });

    it('keep a name that contains a short cookie by chance, because selectors match it (P5)', async () => {
      const { fleet } = await aCollectorApi((_request, response) =>
        sendJson(
          response,
          200,
          { collectors: [collector(1, { name: 'db-web1' })] },
          { 'set-cookie': 'lb=web1' },
        ),
      );
      const inventory = await fleet.readInventory(null);
      expect(inventory.ok && inventory.value.collectors.map(({ name }) => name)).toEqual(['db-web1']);
    });

    it.each([
      ['too long', '7'.repeat(65)],
      ['a secret', accessKey],
    ])('are no task id when %s, so the create is in doubt (P1, P12)', async (_why, id) => {
      const { fleet } = await aCollectorApi((_request, response) => sendJson(response, 202, { id }));
      const answer = await createTask(fleet, target);
      expect(answer).toMatchObject({ failure: { kind: 'unavailable', sent: true } });
      expect(JSON.stringify(answer)).not.toContain(id);
    });

    it('are the code of a refusal too', async () => {
      const { fleet } = await aCollectorApi((_request, response) => sendJson(response, 400, { code: long }));
      const text = JSON.stringify(await createTask(fleet, target));
      expect(text).toContain('"refused"');
      expect(text).not.toContain(accessKey);
      expect(text.length).toBeLessThan(1_000);
    });
  });

  it('lists builds, and ends open requests when it is closed', async () => {
    const { fleet, server } = await aCollectorApi((_request, response) =>
      sendJson(response, 200, {
        targets: [
          { version: '19.500-1', latest: true },
          { version: '19.400-1', x: 1 },
        ],
      }),
    );
    expect(await fleet.listBuilds()).toEqual({
      ok: true,
      value: [
        { version: '19.500-1', latest: true },
        { version: '19.400-1', latest: false },
      ],
    });
    const count = server.requests.length;
    server.follow(() => {});
    const open = fleet.pollTask('1');
    await expect.poll(() => server.requests.length).toBe(count + 1);
    await fleet.close();
    expect(await open).toEqual({ ok: false, failure: { kind: 'cancelled', sent: true } });
    expect(await fleet.pollTask('1')).toEqual({ ok: false, failure: { kind: 'cancelled', sent: false } });
  });
});
