import { createHmac } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startFakeMailServer, startFakeReceiver } from '../../support/network/fake-receivers.ts';
import { startFakeSlack } from '../../support/network/fake-slack.ts';
import { applyAsShown } from '../../support/night/as-shown.ts';
import { aStartedNight, untilState } from '../../support/night/daemon-night.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { testSecrets } from '../../support/test-secrets.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();
const { notifyPath, notifyKey } = testSecrets;

describe('the notifications of daemons', () => {
  it('report a hold, its end and the end of the rollout once to every kind of receiver', async () => {
    const receiver = await startFakeReceiver((_number, { path }) => (path.includes('enqueue') ? 202 : 200));
    const mail = await startFakeMailServer();
    const slack = await startFakeSlack();
    onTestFinished(slack.close);
    onTestFinished(receiver.close);
    onTestFinished(mail.close);
    const url = (name: string) => `${receiver.url}/${name}/${notifyPath}`;
    const { daemon, rolloutId, end } = await aStartedNight(
      {
        redis: redis.config(),
        daemons: 2,
        scenario: {
          fleet: { size: 12 },
          failures: [{ match: { count: 2 }, outcome: 'failed', message: 'permission denied' }],
        },
        rollout: { waves: [{ name: 'all', maxFailures: 1 }], select: { exclude: [] }, concurrency: 4 },
        http: { publicUrl: 'https://upwave.example.com/' },
        notify: [
          { slack: { url: url('slack') } },
          { slack: { token: notifyKey, channel: 'C012', apiUrl: slack.apiUrl } },
          { teams: { url: url('teams') } },
          { pagerDuty: { routingKey: notifyKey, url: receiver.url } },
          { webhook: { url: url('hook'), secret: notifyKey } },
          {
            email: {
              ...{ host: '127.0.0.1', port: mail.port, tls: 'none', username: 'upwave', password: notifyKey },
              ...{ from: 'upwave@example.com', to: ['night@example.com', 'day@example.com'] },
            },
          },
          { name: 'silent', slack: { url: url('silent') }, policies: 'another' },
        ],
      },
      onTestFinished,
    );
    const posts = (path: string) => receiver.posts.filter((post) => post.path.includes(path));
    await untilState(daemon, rolloutId, 'held');
    await until('the first messages', () => receiver.posts.length >= 4 && mail.mails.length >= 1);
    await applyAsShown(daemon.operations, { rolloutId, verb: 'resume', by: 'test', reason: 'seen' });
    await end();
    await until('the last messages', () => posts('hook').length >= 3 && posts('/v2/').length >= 3);
    await until('the other last messages', () =>
      [mail.mails, slack.calls, posts('slack'), posts('teams')].every(({ length }) => length >= 3),
    );

    const hook = posts('hook').map(({ text }) => JSON.parse(text) as Record<string, unknown>);
    expect(hook.map(({ event, phase }) => `${String(event)} ${String(phase)}`)).toEqual([
      'held raised',
      'held over',
      'finished once',
    ]);
    expect(hook[2]?.['commands']).toContain(`upwave report ${rolloutId}`);
    expect(hook[0]).toMatchObject({
      policy: 'night',
      needsPerson: true,
      details: { reason: 'wave all: 2 failures, 1 allowed' },
      commands: [
        expect.stringMatching(/^upwave resume night --hold \d+$/),
        'upwave abort night',
        'upwave rollback night',
      ],
      link: `https://upwave.example.com/#/rollouts/${rolloutId}`,
      guide: 'https://upwave.example.com/docs/alerts#UpwaveRolloutHeld',
      text: { title: 'night: held', causes: ['2 failed: permission denied'] },
    });
    for (const { headers, text } of posts('hook')) {
      const [, seconds, signature] =
        /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['upwave-signature'])) ?? [];
      expect(createHmac('sha256', notifyKey).update(`${seconds}.${text}`).digest('hex')).toBe(signature);
    }

    const events = posts('/v2/').map(({ path, text }) => ({ path, ...(JSON.parse(text) as object) }));
    const incident = {
      path: '/v2/enqueue',
      routing_key: notifyKey,
      dedup_key: `upwave/${String(hook[0]?.['incident'])}`,
    };
    expect(events).toMatchObject([
      { ...incident, event_action: 'trigger', payload: { severity: 'critical', component: 'night' } },
      { ...incident, event_action: 'resolve' },
      { path: '/v2/change/enqueue' },
    ]);
    expect(
      posts('slack').map(({ text }) => (JSON.parse(text) as { text: string }).text.split('\n')[0]),
    ).toEqual(['*night: held*', '*night: no longer held*', '*night: finished with failures*']);
    const [first] = slack.posted.keys();
    expect(slack.calls).toMatchObject([
      { token: notifyKey, channel: 'C012', text: expect.stringContaining('*night: held*') },
      { thread_ts: first, text: expect.stringContaining('About "held" of ') },
      { text: expect.stringContaining('*night: finished with failures*') },
    ]);
    expect(slack.calls[2]).not.toHaveProperty('thread_ts');
    expect(posts('teams')[0]?.text).toContain('AdaptiveCard');
    expect(mail.mails.map(({ text }) => /^Subject: (.*)$/m.exec(text)?.[1])).toEqual([
      'night: held',
      'night: no longer held',
      'night: finished with failures',
    ]);
    expect(mail.mails[0]?.to).toEqual(['night@example.com', 'day@example.com']);
    expect(mail.logins[0]).toBe(Buffer.from(`\0upwave\0${notifyKey}`).toString('base64'));
    expect(posts('silent')).toEqual([]);

    const report = await daemon.operations.report(rolloutId, 'md');
    expect(report).toContain(`# Rollout ${rolloutId}: finished with failures`);
    expect(report).toMatch(/\| failed \| 2 \| permission denied \|/);
    expect(report?.split('\n').find((line) => line.includes('rollout.resumed'))).toMatch(/\| test \| .*seen/);
  });

  it('show a failing receiver and reports that cannot be written, and upgrades continue', async () => {
    const receiver = await startFakeReceiver(() => 503);
    onTestFinished(receiver.close);
    const { daemon, end } = await aStartedNight(
      {
        redis: redis.config(),
        scenario: { fleet: { size: 6 } },
        notify: [{ slack: { url: `${receiver.url}/${notifyPath}` }, events: ['finished'] }],
        report: { directory: '/dev/null/reports' },
      },
      onTestFinished,
    );
    expect((await end()).status.state).toBe('succeeded');
    await until('the failures at /readyz', async () => {
      const { status, text } = await daemon.get('/readyz');
      expect(status).toBe(200);
      return /slack has taken no messages/.test(text) && /no report has been written/.test(text);
    });
    expect(await daemon.operations.listPolicies()).toMatchObject({
      notificationProblems: [expect.stringContaining('answered 503')],
      reports: { directory: '/dev/null/reports', problem: expect.stringContaining('is not a directory') },
    });
    const { text } = await daemon.get('/metrics');
    expect(text).toMatch(/^upwave_notifications_total\{result="failed"\} [1-9]/m);
    expect(text).toContain('upwave_reports_total{result="failed"} 1');
    expect(daemon.logText()).not.toContain(notifyPath);
  });
});
