import { request } from 'undici';
import { describe, it } from 'vitest';
import type { RedisCommands } from '../../src/redis/connection.ts';
import { aDaemonNight, nightCredentials, scan, untilEnded } from '../support/daemon-night.ts';
import { useRedis } from '../support/redis.ts';
import { startWayToService, type WayToService } from '../support/way-to-service.ts';

const redis = useRedis();

const token = 'Tt-theBearerToken-0815';
const basicToken = Buffer.from(`${nightCredentials.accessId}:${nightCredentials.accessKey}`).toString(
  'base64',
);

/** Every key of this prefix with its whole content, as text. */
async function dump(commands: RedisCommands, keyPrefix: string): Promise<string> {
  const lines: string[] = [];
  let cursor = '0';
  do {
    const [next, keys] = await commands.scan(cursor, 'MATCH', `*${keyPrefix}*`, 'COUNT', 500);
    for (const key of keys) lines.push(`${key} ${JSON.stringify(await contentOf(commands, key))}`);
    cursor = next;
  } while (cursor !== '0');
  return lines.join('\n');
}

async function contentOf(commands: RedisCommands, key: string): Promise<unknown> {
  switch (await commands.type(key)) {
    case 'string':
      return commands.get(key);
    case 'hash':
      return commands.hgetall(key);
    case 'list':
      return commands.lrange(key, 0, -1);
    case 'set':
      return commands.smembers(key);
    case 'zset':
      return commands.zrangebyscore(key, '-inf', '+inf');
    case 'stream':
      return commands.xrange(key, '-', '+');
    default:
      // It was gone before it could be read.
      return null;
  }
}

describe('secrets stay (P12)', () => {
  it('shows access key, sign-in, session cookie and token in no log line, page, metric, answer or Redis key', async ({
    expect,
    onTestFinished,
  }) => {
    const config = redis.config();
    const { commands } = redis.connect();
    let way: WayToService | undefined;
    onTestFinished(async () => way?.close());
    const night = await aDaemonNight(
      {
        redis: config,
        http: { token },
        // Without its scrubber: nothing may rely on it alone.
        scrubsLog: false,
        scenario: {
          fleet: { size: 20 },
          // Errors of every kind, since errors are what carries requests into logs.
          httpFaults: [
            { share: 0.05, fault: '502html' },
            { share: 0.05, fault: 'cutOff' },
            { share: 0.05, fault: 'brokenJson' },
            { operations: ['createUpgradeTask'], share: 0.2, fault: 'answerLost' },
          ],
        },
        service: { requestTimeout: '500ms' },
        through: async (serviceUrl) => {
          way = await startWayToService(serviceUrl);
          return way.url;
        },
      },
      onTestFinished,
    );
    const daemon = await night.startDaemon();
    const told: string[] = [];
    const ask = async (path: string, authorization: string, method: 'GET' | 'POST' = 'GET') => {
      const answer = await request(`${daemon.url}${path}`, { method, headers: { authorization } });
      told.push(`${path} ${JSON.stringify(answer.headers)} ${await answer.body.text()}`);
      return answer.statusCode;
    };
    const bearer = `Bearer ${token}`;
    const rolloutId = await scan(daemon);
    const status = untilEnded(daemon, rolloutId);
    told.push(await dump(commands, config.keyPrefix));
    expect(await ask('/metrics', `Bearer ${token}x`)).toBe(401);
    expect(await ask('/metrics', 'Bearer')).toBe(401);
    expect(await ask(`/api/v1/rollouts/${rolloutId}/pause`, bearer, 'POST')).toBe(200);
    told.push(await dump(commands, config.keyPrefix));
    expect(await ask(`/api/v1/rollouts/${rolloutId}/resume`, bearer, 'POST')).toBe(200);
    expect((await status).state).toBe('succeeded');
    const paths = ['/', '/healthz', '/readyz', '/metrics', '/api/v1/openapi.json', '/api/v1/rollouts'];
    const ofRollout = ['', '/collectors', '/events'].map((part) => `/api/v1/rollouts/${rolloutId}${part}`);
    for (const path of [...paths, ...ofRollout]) expect(await ask(path, bearer)).toBe(200);
    told.push(await dump(commands, config.keyPrefix));
    await daemon.close();
    told.push(daemon.logText());

    const cookies = [...(way?.cookies ?? [])];
    expect(cookies.length).toBeGreaterThan(0);
    const everything = told.join('\n');
    // The test looks at the right things.
    expect(everything).toContain(rolloutId);
    expect(everything).toContain('upwave_api_requests_total');
    expect(everything).toContain('"event":"upgrade.succeeded"');
    for (const secret of [nightCredentials.accessKey, basicToken, token, ...cookies]) {
      expect(everything.includes(secret), `${secret.slice(0, 3)}… is shown`).toBe(false);
      expect(everything.includes(encodeURIComponent(secret))).toBe(false);
    }
  });
});
