import { describe, expect, it } from 'vitest';
import { makeRedisWriteRegister } from '../../../../src/redis/coordination/write-register.ts';
import { echoingCommands } from '../../../support/echoing-commands.ts';
import { useRedis } from '../../../support/redis/redis.ts';

const redis = useRedis();

describe.each([
  ['once', false],
  ['twice', true],
])('reports of daemons about their writes, each script sent %s', (_name, isEchoed) => {
  const aPlace = () => {
    const place = redis.place();
    const commands = isEchoed ? echoingCommands(place.commands) : place.commands;
    return { place, aDaemon: () => makeRedisWriteRegister({ ...place, commands }) };
  };

  it('show each daemon its last number and the others (P1)', async () => {
    const { aDaemon } = aPlace();
    const [a, b] = [aDaemon(), aDaemon()];
    const first = await a.report({ number: 1, question: 'which?', confirms: [] });
    expect(first).toEqual({ before: isEchoed ? 1 : 0, others: [] });
    const { others } = await b.report({ number: 1, question: '', confirms: ['which?'] });
    expect(others).toEqual([{ daemon: expect.any(String), question: 'which?', confirms: [] }]);
    const second = await a.report({ number: 2, question: '', confirms: [] });
    expect(second.before).toBe(isEchoed ? 2 : 1);
    expect(second.others).toMatchObject([{ question: '', confirms: ['which?'] }]);
    await a.leave();
    expect((await b.report({ number: 2, question: '', confirms: [] })).others).toEqual([]);
  });

  it('end with the data of Redis', async () => {
    const { place, aDaemon } = aPlace();
    const daemon = aDaemon();
    await daemon.report({ number: 7, question: '', confirms: [] });
    await place.commands.del(`${place.keyPrefix}:{leader}:writes`);
    const { before } = await daemon.report({ number: 8, question: '', confirms: [] });
    expect(before).toBe(isEchoed ? 8 : 0);
  });
});
