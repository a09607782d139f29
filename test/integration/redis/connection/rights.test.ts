import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { makeRedisConnection } from '../../../../src/redis/connection/connection.ts';
import { checkRedisRights, triedCommands } from '../../../../src/redis/connection/rights.ts';
import { makeRightsWatch } from '../../../../src/redis/connection/rights-watch.ts';
import { aFolder } from '../../../support/a-folder.ts';
import {
  aDaemonNight,
  type NightDaemon,
  scan,
  twoAccountsConfig,
  untilEnded,
  upgradesOf,
} from '../../../support/night/daemon-night.ts';
import { brokenPromises } from '../../../support/night/judge-night.ts';
import { callUpwave } from '../../../support/night/upwave-call.ts';
import { aDesk } from '../../../support/night/upwave-desk.ts';
import { makeRedisProcess, redisServerCommand } from '../../../support/redis/redis-process.ts';
import { until } from '../../../support/until.ts';

const root = new URL('../../../../', import.meta.url);
const readGuide = (name: string): string => readFileSync(new URL(`src/docs/guides/${name}.md`, root), 'utf8');
const guide = readGuide('redis');
const guideToKubernetes = readGuide('install-on-kubernetes');
const main = fileURLToPath(new URL('dist/main.js', root));

/** The line of the guide that makes the user, for this password. */
function lineOfGuide(password: string): string {
  const [line] = /^ACL SETUSER upwave .*$/m.exec(guide) ?? [];
  if (line === undefined) throw new Error('the guide has no line that makes the user');
  return line.replace('CHANGE_ME', password);
}

async function aRedisWithUser(atEnd: (work: () => Promise<void>) => void, more = '') {
  const redis = await makeRedisProcess();
  atEnd(() => redis.close());
  await redis.start();
  const acl = async (line: string) => {
    const answer = await redis.ask(line);
    if (answer !== '+OK') throw new Error(`${line}: ${answer}`);
  };
  await acl(`${lineOfGuide('pass-of-upwave')} ${more}`.trimEnd());
  const config = { url: redis.url.replace('//', '//upwave:pass-of-upwave@'), keyPrefix: 'upwave' };
  return { redis, acl, config };
}

async function readiness(daemon: NightDaemon) {
  const { status, text } = await daemon.get('/readyz');
  return { status, redis: (JSON.parse(text) as { checks: { redis: Record<string, unknown> } }).checks.redis };
}

const smallNight = { scenario: { fleet: { size: 12 } }, rollout: { waves: [{ name: 'all' }] } };

const isReported = ({ event, level }: { event: string; level: string }) =>
  event.startsWith('redis.') || event === 'queue.refused' || level === 'error';

describe
  .skipIf(redisServerCommand === undefined)
  .concurrent('a Redis user with the rights that the guide lists', () => {
    it('can run a whole rollout, and the check covers every command that a rollout sends', async (test) => {
      const { redis, config } = await aRedisWithUser(test.onTestFinished);
      const reader = makeRedisConnection({ url: redis.url, keyPrefix: 'x' }, 'worker');
      test.onTestFinished(() => reader.close());
      const rollout = { schedule: '* * * * * *' };
      const night = await aDaemonNight(
        { redis: config, followsSchedule: true, rollout, scenario: { fleet: { size: 40 } } },
        test.onTestFinished,
      );
      const daemon = await night.startDaemon();
      const rolloutId = await until('the rollout that the schedule starts', async () => {
        const [started] = await daemon.operations.listRollouts();
        return started?.id;
      });
      const status = await untilEnded(daemon, rolloutId);
      expect(status.state).toBe('succeeded');
      expect(brokenPromises(night, status, await upgradesOf(daemon, rolloutId))).toEqual([]);
      await night.close();
      const stats = await reader.commands.info('commandstats');
      const sent = [...stats.matchAll(/^cmdstat_([a-z]+)/gm)].map(([, name]) => name);
      const ofConnections = ['hello', 'client', 'ping', 'auth', 'select', 'quit', 'acl', 'unsubscribe'];
      expect(sent.filter((name) => ![...triedCommands, ...ofConnections].includes(name ?? ''))).toEqual([]);

      expect(daemon.log.filter(isReported).map(({ event }) => event)).toEqual(['redis.reachable']);
      expect((await reader.commands.keys('*')).filter((key) => !key.startsWith('upwave:'))).toEqual([]);
      expect(await reader.commands.acl('LOG')).toEqual([]);
    });

    it('can run the rollouts of several accounts, whose keys begin with the same prefix', async (test) => {
      const { redis, config } = await aRedisWithUser(test.onTestFinished);
      const reader = makeRedisConnection({ url: redis.url, keyPrefix: 'x' }, 'worker');
      test.onTestFinished(() => reader.close());
      const night = (seed: string) =>
        aDaemonNight({ redis: config, scenario: { fleet: { size: 8, seed } } }, test.onTestFinished);
      const desk = aDesk(test, { ...twoAccountsConfig(await night('eu'), await night('us')), redis: config });
      expect(await desk.run('run', '--once', '--json')).toMatchObject({ code: 0 });
      const keys = await reader.commands.keys('*');
      for (const prefix of ['upwave:eu', 'upwave:us'])
        expect(keys.filter((key) => key.startsWith(prefix)).length).toBeGreaterThan(5);
      expect(keys.filter((key) => !key.startsWith('upwave:'))).toEqual([]);
      expect(await reader.commands.acl('LOG')).toEqual([]);
    });

    it('can be made by the commands of the guide to Kubernetes', async (test) => {
      const [, commands = ''] =
        /^ +```\n( +upwave help redis [\s\S]*?)^ +```$/m.exec(guideToKubernetes) ?? [];
      const folder = aFolder(test.onTestFinished);
      mkdirSync(join(folder, 'secrets'));
      writeFileSync(join(folder, 'secrets/redis-password'), 'pass-of-upwave\n');
      const stand = `upwave() { "${process.execPath}" "${main}" "$@"; }; kubectl() { cat; }\n`;
      const { stdout } = await promisify(execFile)('sh', ['-c', stand + commands], { cwd: folder });
      expect(stdout).toBe(`${lineOfGuide('pass-of-upwave')}\n`);
    });

    it('is kept over a restart by the line of redis.conf that the guide describes', async (test) => {
      expect(guide).toContain('with `user` in place of\n`ACL SETUSER`');
      // Redis takes the words of an option as a line of its file.
      const [, , ...words] = lineOfGuide('pass-of-upwave').split(' ');
      const redis = await makeRedisProcess({ args: ['--user', ...words] });
      test.onTestFinished(() => redis.close());
      await redis.start();
      expect(await redis.ask('AUTH upwave pass-of-upwave')).toBe('+OK');
    });
  });

describe.skipIf(redisServerCommand === undefined).concurrent('a Redis user with fewer rights', () => {
  it('with a missing key pattern is reported with that pattern', async (test) => {
    const { config } = await aRedisWithUser(test.onTestFinished, 'resetkeys ~other:*');
    const [connection, subscriber] = [0, 1].map(() => makeRedisConnection(config, 'worker'));
    if (connection === undefined || subscriber === undefined) throw new Error('there are two');
    test.onTestFinished(async () => void (await Promise.all([connection.close(), subscriber.close()])));
    const { commands } = connection;
    const refused = await checkRedisRights({ commands, subscriber, keyPrefix: config.keyPrefix });
    expect(refused).toEqual({ needed: ['~upwave:*'], optional: [] });
  });

  it.for([
    { rule: 'one server: the first check after the grant ends it', isCluster: false, after: [] },
    { rule: 'a Cluster: it stands, since the check asks one node', isCluster: true, after: ['+evalsha'] },
  ])('that a command was refused at $rule', async (given, test) => {
    const { acl, config } = await aRedisWithUser(test.onTestFinished, '-evalsha');
    const [connection, subscriber] = [0, 1].map(() => makeRedisConnection(config, 'worker'));
    if (connection === undefined || subscriber === undefined) throw new Error('there are two');
    test.onTestFinished(async () => void (await Promise.all([connection.close(), subscriber.close()])));
    const { commands } = connection;
    const reported: string[] = [];
    const { isCluster } = given;
    const watch = makeRightsWatch({
      ...{ commands, subscriber, keyPrefix: config.keyPrefix, isCluster },
      onRefused: (refused) => reported.push(...refused),
      onGranted: () => reported.push('granted'),
      onMissing: (missing) => reported.push(...missing),
    });
    test.onTestFinished(() => watch.close());
    const refusal: unknown = await commands
      .evalsha('0'.repeat(40), 1, 'upwave:x')
      .catch((error: unknown) => error);
    expect(watch.learn(refusal)).toBe(true);
    await watch.check();
    expect(watch.refused()).toEqual(['+evalsha']);

    await acl(lineOfGuide('pass-of-upwave'));
    await watch.check();
    expect(watch.refused()).toEqual(given.after);
    expect(reported).toEqual(isCluster ? ['+evalsha'] : ['+evalsha', 'granted']);
  });

  it('is reported at once at /readyz, in the log, the metrics and status, and work starts after the grant', async (test) => {
    const rights = '+eval +evalsha +xadd';
    const { redis, acl, config } = await aRedisWithUser(test.onTestFinished, '-eval -evalsha -xadd');
    const night = await aDaemonNight({ redis: config, ...smallNight }, test.onTestFinished);
    const daemon = await night.startDaemon();
    await until('/readyz to tell', async () => (await readiness(daemon)).redis['kind'] === 'forbidden');
    const reason = `${redis.url} refuses its user ${rights}: upwave cannot work. Grant it: ACL SETUSER <user> ${rights}`;
    expect(await readiness(daemon)).toMatchObject({ status: 503, redis: { ok: false, reason } });
    const refused = 'upwave_redis_right_refused{right="+eval"} 1';
    await until('the metric', async () => (await daemon.get('/metrics')).text.includes(refused));
    const { code, all } = await callUpwave('status', '--url', daemon.url);
    expect({ code, all }).toMatchObject({ code: 4, all: expect.stringContaining(reason) });
    expect(all).not.toContain('is away');

    await acl(lineOfGuide('pass-of-upwave'));
    await until('/readyz to be well', async () => (await readiness(daemon)).status === 200);
    const rolloutId = await scan(daemon);
    expect((await untilEnded(daemon, rolloutId)).state).toBe('succeeded');
    expect((await daemon.get('/metrics')).text).not.toContain('upwave_redis_right_refused{');
    expect(daemon.log.filter(isReported).map(({ event }) => event)).toEqual([
      'redis.reachable',
      'redis.forbidden',
      'redis.allowed',
    ]);
    expect(JSON.stringify(daemon.log)).not.toContain('pass-of-upwave');
  });

  it('works without INFO and without channels, and reports each once', async (test) => {
    const { config } = await aRedisWithUser(test.onTestFinished, '-info resetchannels');
    const night = await aDaemonNight({ redis: config, ...smallNight }, test.onTestFinished);
    const daemon = await night.startDaemon();
    const rolloutId = await scan(daemon);
    expect((await untilEnded(daemon, rolloutId)).state).toBe('succeeded');
    const notices = daemon.log.filter(isReported);
    expect(notices.map(({ event }) => event)).toEqual(['redis.reachable', 'redis.risk']);
    expect(notices[1]?.['reason']).toBe(
      "Redis refuses its user &upwave:* +info: wake-ups between daemons are a second late; Redis's memory policy and append-only file can't be checked. Grant it: ACL SETUSER <user> &upwave:* +info.",
    );
    expect((await readiness(daemon)).status).toBe(200);
  });
});
