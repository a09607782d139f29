import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../../src/config/load/load-config.ts';
import { findRisks } from '../../../../src/config/show/find-risks.ts';
import { aFolder } from '../../../support/a-folder.ts';
import { readConfig, withRollout, withSection, withService } from '../../../support/config-fixtures.ts';

const serviceAt = (baseUrl: string) =>
  findRisks(
    readConfig(withService(`service: { baseUrl: "${baseUrl}", accessId: id, accessKey: a-long-key }`)),
  );
const gateAt = (webhook: string) =>
  findRisks(readConfig(withRollout(`waves: [{ name: a, gates: [{ webhook: { ${webhook} } }] }]`)));

describe('the risks of a config (P12)', () => {
  it('has a directory of reports that cannot be one', () => {
    const folder = aFolder();
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const risksOf = (directory: string) =>
      findRisks(readConfig(withSection(`report: { directory: "${directory}" }`)));
    expect(risksOf(join(folder, 'not', 'there'))).toEqual([]);
    expect(risksOf(join(file, 'reports'))).toEqual([
      `no report can be written to report.directory ${file}/reports: ${file} is not a directory`,
    ]);
  });

  it.each([
    ['1234567', 1],
    ['12345678', 0],
  ])('has the access key %s, which is too short to be hidden: %i', (key, count) => {
    const service = `service: { baseUrl: "https://h", accessId: id, accessKey: "${key}" }`;
    expect(findRisks(readConfig(withService(service)))).toEqual(
      Array(count).fill(
        'service.accessKey has fewer than 8 characters, so it is not hidden where the service repeats it in a name; access keys have 64',
      ),
    );
  });

  it.each([
    ['https://api.example.com', 0],
    ['http://127.0.0.1:8080', 0],
    ['http://localhost/api', 0],
    ['http://[::1]:8080', 0],
    ['http://api.example.com', 1],
    ['http://127.0.0.1.example.com', 1],
    ['http://[2001:db8::1]', 1],
  ])('has an access key that goes to %s: %i', (baseUrl, count) => {
    expect(serviceAt(baseUrl)).toEqual(
      Array(count).fill('the access key goes to service.baseUrl without TLS; write https://'),
    );
  });

  it("has a gate's token that others can read on its way, and names the gate", () => {
    expect(gateAt('url: "http://gate.example.com", tokenFile: token')).toEqual([
      'the token of gate webhook (all, wave a) goes to its url without TLS; write https://',
    ]);
    expect(gateAt('url: "http://gate.example.com"')).toEqual([]);
    expect(gateAt('url: "https://gate.example.com", tokenFile: token')).toEqual([]);
  });

  it.each([
    ['redis://:word@redis.example.com:6379', 1],
    ['redis://user:word@[2001:db8::1]', 1],
    ['redis://redis.example.com:6379', 0],
    ['redis://user@redis.example.com', 0],
    ['rediss://:word@redis.example.com', 0],
    ['redis://:word@127.0.0.1', 0],
    ['redis://:word@[::1]:6379', 0],
    ['redis://:word@LOCALHOST', 0],
    ['/run/redis.sock', 0],
    ['unix:///run/redis.sock', 0],
  ])('has a password of Redis that goes to %s: %i', (url, count) => {
    expect(findRisks(readConfig(withSection(`redis: { url: "${url}" }`)))).toEqual(
      Array(count).fill('the password of Redis goes to redis.url without TLS; write rediss://'),
    );
  });

  it('has a password beside the URL', () => {
    const redis = 'redis: { url: "redis://redis.example.com", password: word }';
    expect(findRisks(readConfig(withSection(redis)))).toHaveLength(1);
  });

  it.each(['sentinels: [%], name: main', 'cluster: [%]'])('has one that goes to redis.%s', (ways) => {
    const risksOf = (nodes: string, more: string) =>
      findRisks(readConfig(withSection(`redis: { ${ways.replace('%', nodes)}${more} }`)));
    const key = ways.replace(/:.*/, '');
    const far = '"127.0.0.1:7000", "redis.example.com:7000"';
    expect(risksOf(far, ', password: word')).toEqual([
      `the password of Redis goes to redis.${key} without TLS; set redis.tls: true`,
    ]);
    expect(risksOf(far, ', password: word, tls: true')).toEqual([]);
    expect(risksOf(far, ', username: user')).toEqual([]);
    expect(risksOf('"127.0.0.1:7000", "[::1]:7000"', ', password: word')).toEqual([]);
  });

  it("do not exist where a gate's file cannot be read, because the gate reports that when it asks", () => {
    const tooLong = 'a'.repeat(300);
    expect(gateAt(`url: "https://gate.example.com", tokenFile: ${tooLong}`)).toEqual([]);
  });

  it.skipIf(process.platform === 'win32')('has files of secrets that everybody may read or change', () => {
    const folder = aFolder();
    const modes = { key: 0o666, 'gate-url': 0o644, 'gate-token': 0o640 };
    for (const [name, mode] of Object.entries(modes)) {
      writeFileSync(join(folder, name), 'a-secret-of-the-test\n');
      chmodSync(join(folder, name), mode);
    }
    const gate = '{ webhook: { urlFile: gate-url, tokenFile: gate-token } }';
    const service = 'service: { baseUrl: "https://h", accessId: id, accessKeyFile: key }';
    const rollouts = `rollouts: [{ name: all, waves: [{ name: a, gates: [${gate}, ${gate}] }] }]`;
    writeFileSync(join(folder, 'c.yaml'), `${service}\n${rollouts}\n`);
    const why = 'holds a secret, and every user of this machine may read or change it';
    expect(findRisks(loadConfig(join(folder, 'c.yaml'), {}))).toEqual([
      `${folder}/key ${why} (mode 0666)`,
      `${folder}/gate-url ${why} (mode 0644)`,
    ]);
  });
});
