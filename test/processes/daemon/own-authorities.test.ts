import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../../../src/config/load/load-config.ts';
import { redisConfigOf } from '../../../src/daemon/redis-connections.ts';
import { makeRedisConnection } from '../../../src/redis/connection/connection.ts';
import type { RedisConfig } from '../../../src/redis/connection/redis-config.ts';
import { aFolder } from '../../support/a-folder.ts';
import { ending } from '../../support/ending.ts';
import { listenHere } from '../../support/network/listen-here.ts';
import {
  hasOpenssl,
  makeCertificates,
  type TestCertificates,
} from '../../support/network/make-certificates.ts';
import { startTlsServer } from '../../support/network/tls-server.ts';
import { startFakeSentinel } from '../../support/redis/fake-sentinel.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { aCollectorApi } from '../../support/setup/collector-api-setup.ts';

const redis = useRedis();
const targets = JSON.stringify({ targets: [{ version: '19.500-1', latest: true }] });

describe.skipIf(!hasOpenssl)('certificates of a private authority (skipped without openssl)', () => {
  let made: TestCertificates;
  let other: TestCertificates;
  beforeAll(() => {
    made = makeCertificates();
    other = makeCertificates('DNS:elsewhere.example.com');
  });
  afterEach(() => void vi.unstubAllEnvs());

  describe('of the service', () => {
    async function ask(server: TestCertificates, ca: string | undefined) {
      const https = ending(await startTlsServer(server, { status: 200, json: targets }));
      const api = await aCollectorApi(() => undefined, { baseUrl: `${https.url}/api`, ca });
      return { answer: await api.fleet.listBuilds(), asked: https.asked() };
    }

    it('are trusted when service.caFile names it', async () => {
      expect((await ask(made, made.ca)).answer).toMatchObject({ ok: true });
      expect((await ask(made, `${other.ca}\n${made.ca}`)).answer).toMatchObject({ ok: true });
    });

    it.each([
      ['without it', () => made, () => undefined, 'Set service.caFile'],
      ['with another one', () => made, () => other.ca, 'Set service.caFile'],
      ['for another host', () => other, () => other.ca, 'another host name'],
    ])(
      'are refused %s, with what to do, whatever the environment says, and nothing is sent',
      async (_how, server, ca, words) => {
        vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
        const { answer, asked } = await ask(server(), ca());
        expect(answer).toMatchObject({ failure: { kind: 'misconfigured' } });
        expect(JSON.stringify(answer)).toContain(words);
        expect(asked).toBe(0);
      },
    );
  });

  describe('of Redis', () => {
    /** Redis behind TLS. */
    async function startTls(server: TestCertificates, targetPort?: number): Promise<number> {
      const { hostname, port } = new URL(redis.config().url);
      const target =
        targetPort === undefined ? { hostname, port } : { hostname: '127.0.0.1', port: targetPort };
      const tls = createTlsServer(server.server, (socket) => {
        const behind = connect({ host: target.hostname, port: Number(target.port) });
        for (const each of [socket, behind]) each.on('error', () => socket.destroy());
        socket.on('close', () => behind.destroy());
        socket.pipe(behind).pipe(socket);
      });
      tls.on('tlsClientError', () => undefined);
      return ending(await listenHere(tls)).port;
    }

    const aSentinel = async (masterPort: number) => ending(await startFakeSentinel(masterPort));

    function open(config: RedisConfig) {
      const reasons: string[] = [];
      const onUnreachable = (reason: string) => reasons.push(reason);
      return { connection: ending(makeRedisConnection(config, 'worker', { onUnreachable })), reasons };
    }

    const urlAt = (port: number) => {
      const { password } = new URL(redis.config().url);
      return `rediss://${password === '' ? '' : `:${password}@`}127.0.0.1:${port}`;
    };

    it('are trusted when redis.caFile names it', async () => {
      const url = urlAt(await startTls(made));
      const { connection } = open({ url, keyPrefix: 'x', ca: made.ca });
      expect(await connection.commands.ping()).toBe('PONG');
    });

    it('are trusted at the sentinels, too, and at the master that they name', async () => {
      const sentinel = await aSentinel(await startTls(made));
      const sentinelPort = await startTls(made, sentinel.port);
      const { password } = new URL(redis.config().url);
      const { connection } = open({
        sentinels: [{ host: '127.0.0.1', port: sentinelPort }],
        name: 'group',
        keyPrefix: 'x',
        tls: true,
        ca: made.ca,
        ...(password === '' ? {} : { password }),
      });
      expect(await connection.commands.ping()).toBe('PONG');
      expect(sentinel.asked).toContain('get-master-addr-by-name');
    });

    it('are refused at a sentinel without redis.caFile, and no command is sent to it', async () => {
      const sentinel = await aSentinel(1);
      const sentinelPort = await startTls(made, sentinel.port);
      const sentinels = [{ host: '127.0.0.1', port: sentinelPort }];
      const { reasons, connection } = open({ sentinels, name: 'group', keyPrefix: 'x', tls: true });
      await expect
        .poll(() => reasons)
        .toEqual([expect.stringContaining(`sentinel 127.0.0.1:${sentinelPort}`)]);
      expect(connection.isReady()).toBe(false);
      expect(sentinel.asked).toEqual([]);
    });

    it.each([
      ['without it', () => made, () => ({}), 'set redis.caFile'],
      ['for another host', () => other, () => ({ ca: other.ca }), 'another host name'],
    ])('are refused %s, with what to do, whatever the environment says', async (_how, server, ca, words) => {
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
      const url = urlAt(await startTls(server()));
      const { reasons } = open({ url, keyPrefix: 'x', ...ca() });
      await expect.poll(() => reasons).toEqual([expect.stringContaining(words)]);
    });
  });

  describe('in the config', () => {
    function load(pem: string, redisYaml: string) {
      const folder = aFolder();
      writeFileSync(join(folder, 'own.pem'), pem);
      const yaml = [
        'service: { baseUrl: https://api.example.com/api, accessId: id, accessKey: key, caFile: own.pem }',
        `redis: ${redisYaml}`,
        'rollouts: [{ name: all }]',
      ];
      writeFileSync(join(folder, 'upwave.yaml'), yaml.join('\n'));
      return loadConfig(join(folder, 'upwave.yaml'), {});
    }

    it('are read from files beside it, whatever else the files contain', () => {
      const pem = `# our own\n${made.ca}\n${other.ca}`;
      const config = load(pem, '{ url: "rediss://r:6380", caFile: own.pem }');
      expect(config.service?.ca?.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
      expect(config.service?.ca).not.toContain('our own');
      expect(config.redis && redisConfigOf(config.redis).ca).toBe(config.service?.ca);
    });

    it.each([
      ['{ sentinels: ["s:1"], name: m, tls: true, caFile: own.pem }'],
      ['{ cluster: ["c:1"], tls: true, caFile: own.pem }'],
    ])('reach Redis for %s', (yaml) => {
      const config = load(made.ca, yaml);
      expect(config.redis && redisConfigOf(config.redis).ca).toContain('BEGIN CERTIFICATE');
    });

    it.each([
      ['no certificate at all', 'can\'t take certificates from "own.pem": it holds none'],
      ['-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----', 'one in it is broken'],
    ])('are refused with their place in the config where the file holds %j', (text, sentence) => {
      const read = () => load(text, '{ url: "rediss://r:6380" }');
      expect(read).toThrow(sentence);
      expect(read).toThrow(/upwave\.yaml:1:\d+: service\.caFile: /);
    });

    it.each([
      ['{ url: "rediss://r:6380", caFile: gone.pem }', /redis\.caFile.*gone\.pem.*no such file/],
      ['{ url: "redis://r:6379", caFile: own.pem }', /write rediss:\/\/ in url/],
      ['{ cluster: ["c:1"], caFile: own.pem }', /set tls: true/],
    ])('are refused without a file, or for a Redis without TLS: %s', (yaml, sentence) => {
      expect(() => load(made.ca, yaml)).toThrow(sentence);
    });
  });
});
