import { describe, expect, it } from 'vitest';
import { unansweredMax } from '../../../../src/collector-api/wire/service-circuit.ts';
import { PausedTooLong } from '../../../../src/orchestrator/ports/api-budget.ts';
import { createTask } from '../../../support/create-task.ts';
import { type Script, sendCutOff, sendJson, sendText } from '../../../support/network/scripted-server.ts';
import { aCollectorApi } from '../../../support/setup/collector-api-setup.ts';

const task = { upgrade: { id: 1, status: 1 } };
const targets = { targets: [{ version: '19.500-1', latest: true }] };
const cookie = { 'set-cookie': 'session=abc' };
const create = { collectorId: 1, toBuild: '19.500-1' };

describe('a service that is down', () => {
  it.each<[string, Script]>([
    ['5xx', (_request, response) => sendJson(response, 503, { code: 'service.unavailable' })],
    ['pages', (_request, response) => sendText(response, 200, '<html>maintenance</html>')],
    ['pages for what is not found', (_request, response) => sendText(response, 404, '<html>')],
    ['cut answers', (_request, response) => sendCutOff(response, 200)],
    ['no answer', () => undefined],
  ])('is reported to the budget after several times %s in a row, with the reason', async (_what, script) => {
    const { fleet, budget } = await aCollectorApi(script, { requestTimeoutMs: 40 });
    for (let time = 1; time < unansweredMax; time += 1) await fleet.pollTask('1');
    expect(budget.standings).toEqual([]);
    await fleet.pollTask('1');
    expect(budget.standings).toEqual([expect.stringContaining('getUpgradeTask')]);
  });

  it('is reported when no connection can be made', async () => {
    const { fleet, budget } = await aCollectorApi(() => undefined, { baseUrl: 'http://127.0.0.1:1/api' });
    for (let time = 0; time < unansweredMax; time += 1) await fleet.pollTask('1');
    expect(budget.standings).toEqual([expect.stringContaining('no connection')]);
  });

  it.each<[string, number, unknown]>([
    ['a success', 200, task],
    ['a refusal', 400, { code: 'collector.invalid' }],
    ['a 429', 429, ''],
    ['JSON that we do not understand', 200, { odd: true }],
  ])('is not reported as down when %s comes in between', async (_what, status, body) => {
    let answer: Script = (_request, response) => sendText(response, 502, '<html>');
    const { fleet, budget } = await aCollectorApi((request, response) => answer(request, response));
    for (let time = 1; time < unansweredMax; time += 1) await fleet.pollTask('1');
    answer = (_request, response) => sendJson(response, status, body);
    await fleet.pollTask('1');
    answer = (_request, response) => sendText(response, 502, '<html>');
    for (let time = 1; time < unansweredMax; time += 1) await fleet.pollTask('1');
    expect(budget.standings).toEqual([]);
  });

  it('is probed with a read, never with a create: the create is sent after the answer to the read', async () => {
    let isDown = true;
    const { fleet, budget, server } = await aCollectorApi((request, response) => {
      if (isDown) return sendText(response, 502, '<html>');
      budget.markProbe(false);
      return request.method === 'GET'
        ? sendJson(response, 200, targets, cookie)
        : sendJson(response, 202, { id: '5' });
    });
    let intents = 0;
    const start = () =>
      createTask(fleet, create, async () => {
        intents += 1;
        return true;
      });
    budget.markProbe(true);
    expect(await start()).toMatchObject({ failure: { kind: 'unavailable', sent: false } });
    expect(server.requests.map(({ method }) => method)).toEqual(['GET']);
    expect(intents).toBe(0);
    isDown = false;
    expect(await start()).toEqual({ ok: true, value: { taskId: '5' } });
    expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST']);
    expect(intents).toBe(1);
    expect(budget.taken).toEqual(['create', 'create', 'create']);
    expect(budget.held()).toBe(0);
  });

  it('that stays down after each successful read gets no create, and only a few reads', async () => {
    const { fleet, budget, server } = await aCollectorApi((_request, response) =>
      sendJson(response, 200, targets, cookie),
    );
    budget.markProbe(true);
    const answer = await createTask(fleet, create);
    expect(answer).toMatchObject({ failure: { kind: 'unavailable', sent: false } });
    expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET']);
    expect(budget.held()).toBe(0);
  });

  it('fails a call that waited too long as not sent, with the reason', async () => {
    const { fleet, budget, server } = await aCollectorApi((_request, response) =>
      sendJson(response, 200, targets),
    );
    budget.refuse(new PausedTooLong('The service is down.'));
    expect(await createTask(fleet, create)).toEqual({
      ok: false,
      failure: { kind: 'unavailable', sent: false, detail: 'The service is down.' },
    });
    expect(server.requests).toEqual([]);
    budget.refuse(new Error('a bug'));
    await expect(fleet.listBuilds()).rejects.toThrow('a bug');
  });
});
