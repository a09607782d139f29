import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import { makeSendNotice } from '../../../src/observability/notifications/send-notice.ts';
import type { NoticeThread, Outbox } from '../../../src/orchestrator/ports/notifications.ts';
import type { Notice } from '../../../src/rollout/model/notice.ts';
import { ending } from '../../support/ending.ts';
import { startFakeSlack } from '../../support/network/fake-slack.ts';
import { startScriptedServer } from '../../support/network/scripted-server.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { startDelivery } from '../../support/start-delivery.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();
const clock = { now: () => Date.now() };

const aNotice = (incident: string, phase: 'raised' | 'over'): Notice => ({
  ...{ id: `${incident}/${phase}`, incident, phase, at: clock.now(), policy: 'production' },
  ...{ figures: null, commands: [], details: { event: 'held', reason: 'too many failures' } },
});
const [held, free] = [aNotice('a', 'raised'), aNotice('a', 'over')];
const aChannel = (apiUrl: string, token = 'xoxb-one') =>
  ({ kind: 'slack', apiUrl, token: new Secret(token), channel: 'C012' }) as const;
const started: Notice = {
  ...{ id: 's', incident: 's', phase: 'once', at: clock.now(), policy: 'production' },
  ...{ figures: null, commands: [], details: { event: 'started', startedBy: 'root', waves: 3 } },
};

/** The threads of what was posted: the `ts` of the message that each one answers, or its own. */
const threadsOf = ({ posted }: Awaited<ReturnType<typeof startFakeSlack>>) =>
  [...posted].map(([ts, post]) => post.thread_ts ?? ts);

/** Ends the daemon once, instead of what it was to do with the outbox next. */
const killedOnce = (at: 'saveThread' | 'remove') => {
  let isKilled = false;
  const dies = () => {
    if (isKilled) return false;
    isKilled = true;
    return true;
  };
  return (outbox: Outbox): Outbox => ({
    ...outbox,
    ...(at === 'saveThread'
      ? {
          saveThread: async (...of) => {
            if (dies()) throw new Error('killed');
            await outbox.saveThread(...of);
          },
        }
      : {
          remove: async (waiting) => {
            if (dies()) throw new Error('killed');
            await outbox.remove(waiting);
          },
        }),
  });
};

describe('the messages about an incident in Slack', () => {
  it('are one thread for each incident, with several daemons, and others stand alone', async () => {
    const slack = ending(await startFakeSlack());
    const notices = [held, aNotice('b', 'raised'), started, free, aNotice('b', 'over')];
    const { drained } = await startDelivery(redis, () => aChannel(slack.apiUrl), notices, { workers: 3 });
    await drained();
    const [a, b, alone, ofA, ofB] = threadsOf(slack);
    expect([ofA, ofB]).toEqual([a, b]);
    expect(new Set([a, b, alone]).size).toBe(3);
    expect(slack.calls[0]).toMatchObject({ token: 'xoxb-one', channel: 'C012' });
    expect(slack.calls.map(({ text }) => text.split('\n')[0])).toEqual([
      '*production: held*',
      '*production: held*',
      '*production: rollout started*',
      '*production: no longer held*',
      '*production: no longer held*',
    ]);
  });

  it('go to the second of two first messages when the daemon is killed before it stored the first', async () => {
    const slack = ending(await startFakeSlack());
    const spoil = killedOnce('saveThread');
    const { drained } = await startDelivery(redis, () => aChannel(slack.apiUrl), [held, free], { spoil });
    await drained();
    const [first, second, over] = threadsOf(slack);
    expect(second).not.toBe(first);
    expect(over).toBe(second);
  });

  it('stay one thread when the daemon is killed before it removed the first message', async () => {
    const slack = ending(await startFakeSlack());
    const spoil = killedOnce('remove');
    const { drained } = await startDelivery(redis, () => aChannel(slack.apiUrl), [held, free], { spoil });
    await drained();
    expect(threadsOf(slack)).toHaveLength(3);
    expect(new Set(threadsOf(slack)).size).toBe(1);
  });

  it('stay one thread when the token is rotated between them', async () => {
    let valid = 'xoxb-one';
    const slack = ending(
      await startFakeSlack((_number, { token }) =>
        token === valid ? undefined : { error: 'token_revoked' },
      ),
    );
    let configured = 'xoxb-one';
    const place = () => aChannel(slack.apiUrl, configured);
    const { drained, outbox, notes, queue } = await startDelivery(redis, place, [held]);
    await drained();
    valid = 'xoxb-two';
    const messages = [{ receiver: 'hook', notice: free }];
    await outbox.write({ policy: 'other', announced: { failingSince: null, open: null } }, null, messages);
    await until('the refusal', async () => {
      await queue.wake(['hook']);
      return notes.some(({ event }) => event === 'notification.failed');
    });
    expect((await outbox.readFailures()).get('hook')?.reason).toBe('Slack answered token_revoked');
    configured = 'xoxb-two';
    await drained();
    expect(new Set(threadsOf(slack)).size).toBe(1);
    expect(threadsOf(slack)).toHaveLength(2);
  });

  it('begin a new thread when Redis lost the first one', async () => {
    const slack = ending(await startFakeSlack());
    const { drained, outbox, commands, threadKeys } = await startDelivery(
      redis,
      () => aChannel(slack.apiUrl),
      [held],
    );
    await drained();
    expect(await threadKeys()).toHaveLength(1);
    await commands.del(...(await threadKeys()));
    const messages = [{ receiver: 'hook', notice: free }];
    await outbox.write({ policy: 'other', announced: { failingSince: null, open: null } }, null, messages);
    await drained();
    expect(new Set(threadsOf(slack)).size).toBe(2);
    // Later ones go there.
    expect(await threadKeys()).toHaveLength(1);
  });

  it('keep their thread for a month, and no longer', async () => {
    const slack = ending(await startFakeSlack());
    const { drained, commands, threadKeys } = await startDelivery(redis, () => aChannel(slack.apiUrl), [
      held,
    ]);
    await drained();
    const [key = ''] = await threadKeys();
    expect(Math.round((await commands.ttl(key)) / 86_400)).toBe(30);
  });
});

describe('an answer of Slack', () => {
  const sendTo = (apiUrl: string, thread: NoticeThread | null = null, channel = 'C012') => {
    const send = makeSendNotice({ installation: undefined, publicUrl: undefined, clock });
    const place = { ...aChannel(apiUrl), channel };
    const receiver = { name: 'slack', events: [], policies: ['*'], quiet: null, place };
    return send(receiver, free, thread, AbortSignal.timeout(5_000));
  };
  const known = { channel: 'C012', message: '1.2' };

  it.each([
    [{ error: 'not_in_channel' }, { kind: 'failed', reason: 'Slack answered not_in_channel' }],
    [{ error: 'invalid_auth' }, { kind: 'failed', reason: 'Slack answered invalid_auth' }],
    [{ error: 'internal_error' }, { kind: 'failed', reason: 'Slack answered internal_error' }],
    [{ error: 'invalid_blocks' }, { kind: 'refused', reason: 'Slack answered invalid_blocks' }],
    [{ error: 'msg_too_long' }, { kind: 'refused', reason: 'Slack answered msg_too_long' }],
    [{ error: 'the token xoxb-one' }, { kind: 'failed', reason: 'answered no result of Slack' }],
    [{ retryAfter: 30 }, { kind: 'failed', reason: 'answered 429', retryAfterMs: 30_000 }],
  ])('%j tells whether a retry can help', async (refusal, result) => {
    const slack = ending(await startFakeSlack(() => refusal));
    expect(await sendTo(slack.apiUrl, known)).toEqual(result);
    expect(slack.calls).toHaveLength(1);
  });

  it('that the first message is gone starts a new thread at once', async () => {
    const slack = ending(
      await startFakeSlack((number) => (number === 0 ? { error: 'thread_not_found' } : undefined)),
    );
    expect(await sendTo(slack.apiUrl, known)).toEqual({
      kind: 'sent',
      thread: { channel: 'C012', message: '170000002.000100' },
    });
    expect(slack.calls.map((call) => call.thread_ts)).toEqual(['1.2', undefined]);
  });

  it('to a reply begins no thread, and a thread of another channel is not used', async () => {
    const slack = ending(await startFakeSlack());
    expect(await sendTo(slack.apiUrl, known)).toEqual({ kind: 'sent' });
    expect(await sendTo(slack.apiUrl, known, 'C999')).toMatchObject({ thread: { channel: 'C999' } });
    expect(slack.calls.map((call) => call.thread_ts)).toEqual(['1.2', undefined]);
  });

  it('that is none of Slack is a failure, and shows nothing of what it repeats (P12)', async () => {
    const server = ending(
      await startScriptedServer((request, response) => {
        response.writeHead(200).end(`<html>${String(request.headers.authorization)}</html>`);
      }),
    );
    expect(await sendTo(server.url)).toEqual({ kind: 'failed', reason: 'answered no result of Slack' });
  });
});
