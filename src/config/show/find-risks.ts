import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { isLoopbackHost } from '../../base/loopback.ts';
import { unlessRefused } from '../../base/node-errors.ts';
import { hiddenKeyLengthMin } from '../../base/secret.ts';
import { isSearchGate } from '../../rollout/model/policy.ts';
import type { MailPlace, Receiver, ReceiverPlace } from '../../rollout/model/receiver.ts';
import { accountConfigsOf } from '../account-configs.ts';
import type { Config, RedisConfig, ServiceConfig } from '../config.ts';

/**
 * Finds settings that are allowed but risky: secrets that travel without TLS or are too short to be hidden (P12), secret files that everybody may read or
 * change, and a report directory that cannot be written.
 * @returns one sentence for each risk, for the operator; empty without risks
 */
export function findRisks(config: Config): readonly string[] {
  const { rollouts, secretFiles = [] } = config;
  const gates = rollouts.flatMap(({ name, waves }) =>
    waves.flatMap((wave) =>
      wave.gates.flatMap((gate) => (isSearchGate(gate) ? [] : [{ gate, of: `${name}, wave ${wave.name}` }])),
    ),
  );
  const tokens = gates.flatMap(({ gate, of: place }) =>
    gate.tokenFile !== undefined && 'url' in gate && isReadOnTheWay(gate.url)
      ? [`the token of gate ${gate.name} (${place}) goes to its url without TLS; write https://`]
      : [],
  );
  const files = gates.flatMap(({ gate }) => [gate.tokenFile, 'urlFile' in gate ? gate.urlFile : undefined]);
  return [
    ...accountConfigsOf(config).flatMap(({ account, service }) =>
      serviceRisks(account === undefined ? 'service' : `accounts.${account}`, service),
    ),
    ...redisPassword(config.redis),
    ...tokens,
    ...config.notify.flatMap(receiverRisk),
    ...(config.report === undefined ? [] : reportRisk(config.report.directory)),
    ...[...new Set([...secretFiles, ...files])].flatMap((path) => (path === undefined ? [] : openFile(path))),
  ];
}

function serviceRisks(key: string, { baseUrl, accessKey }: ServiceConfig): readonly string[] {
  return [
    ...(isReadOnTheWay(baseUrl) ? [`the access key goes to ${key}.baseUrl without TLS; write https://`] : []),
    ...(accessKey.reveal().length < hiddenKeyLengthMin
      ? [
          `${key}.accessKey has fewer than ${hiddenKeyLengthMin} characters, so it is not hidden where the service repeats it in a name; access keys have 64`,
        ]
      : []),
  ];
}

function receiverRisk({ name, place }: Receiver): readonly string[] {
  if (place.kind === 'email') {
    const isOpen = place.tls === 'none' && place.login !== null && !isLoopbackHost(place.host);
    return isOpen ? [`the mail password of receiver ${name} is sent without TLS; set tls: starttls`] : [];
  }
  return isReadOnTheWay(urlOf(place)) ? [`messages to receiver ${name} go without TLS; write https://`] : [];
}

function urlOf(place: Exclude<ReceiverPlace, MailPlace>): string {
  if (place.kind === 'pagerDuty') return place.url;
  return 'token' in place ? place.apiUrl : place.url.reveal();
}

function isReadOnTheWay(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isLoopbackHost(hostname);
}

function redisPassword(redis: RedisConfig | undefined): readonly string[] {
  if (redis === undefined) return [];
  const goesTo = 'the password of Redis goes to';
  if (redis.kind === 'single') {
    const url = redis.url.reveal();
    // A path is a socket of this machine.
    if (!URL.canParse(url)) return [];
    const { protocol, password, hostname } = new URL(url);
    const isSafe = protocol !== 'redis:' || password === '' || isLoopbackHost(hostname);
    return isSafe ? [] : [`${goesTo} redis.url without TLS; write rediss://`];
  }
  const { key, nodes } =
    redis.kind === 'cluster'
      ? { key: 'cluster', nodes: redis.nodes }
      : { key: 'sentinels', nodes: redis.sentinels };
  const isSafe = redis.tls || redis.password === undefined || nodes.every(({ host }) => isLoopbackHost(host));
  return isSafe ? [] : [`${goesTo} redis.${key} without TLS; set redis.tls: true`];
}

const othersReadOrWrite = 0o006;

function openFile(path: string): readonly string[] {
  // File modes have no meaning there.
  if (process.platform === 'win32') return [];
  const mode = modeOf(path);
  if (mode === undefined || (mode & othersReadOrWrite) === 0) return [];
  const octal = (mode & 0o777).toString(8).padStart(4, '0');
  return [`${path} holds a secret, and every user of this machine may read or change it (mode ${octal})`];
}

/** @returns undefined for a missing or unreadable file: a gate's file may appear later, and its gate reports the reason */
function modeOf(path: string): number | undefined {
  const stat = unlessRefused(() => statSync(path));
  return stat?.isFile() === true ? stat.mode : undefined;
}

/** Checks in the file system whether this user can write reports there. Returns one sentence, or none. */
function reportRisk(directory: string): readonly string[] {
  const found = nearestPath(directory);
  if (found === undefined) return [];
  const { path, isDirectory } = found;
  const what = path === directory ? '' : `: ${path}`;
  if (isDirectory && mayWrite(path)) return [];
  const why = isDirectory ? 'is not writable for this user' : 'is not a directory';
  return [`no report can be written to report.directory ${directory}${what} ${why}`];
}

/** The path itself, or its nearest existing parent. */
function nearestPath(path: string): { readonly path: string; readonly isDirectory: boolean } | undefined {
  const isDirectory = unlessRefused(() => statSync(path).isDirectory());
  if (isDirectory !== undefined) return { path, isDirectory };
  const above = dirname(path);
  return above === path ? undefined : nearestPath(above);
}

function mayWrite(path: string): boolean {
  const isGranted = unlessRefused(() => {
    accessSync(path, constants.W_OK);
    return true;
  });
  return isGranted === true;
}
