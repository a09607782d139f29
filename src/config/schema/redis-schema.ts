import { z } from 'zod';
import { Secret } from '../../base/secret.ts';
import { quote, withoutUserInfo } from '../source/config-error.ts';
import {
  filePath,
  oneOf,
  reportSeveral,
  secretFile,
  secretText,
  unprintable,
  type WholeReport,
  wholeCheck,
} from './value-schemas.ts';

/** Host and port of one Redis process. */
export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

/** `redis://`, `rediss://` or `unix:///path`. A Secret, because it may contain a password. */
const RedisUrl = z.string().transform((text, context): Secret => {
  const problem = redisUrlProblem(text);
  if (problem === 'shape') {
    context.addIssue(
      'is not a Redis URL; write redis://host:6379, rediss://host:6379, unix:///path or /path',
    );
  } else if (problem === 'passwordInQuery') {
    context.addIssue('must not contain a password in its query ("?…"); use password or passwordFile');
  }
  return new Secret(text);
});

const Node = z.string().transform((text, context): RedisNode => {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/@[\]]+)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || port < 1 || port > 65_535) {
    const quoted = quote(withoutUserInfo(text));
    context.addIssue(`${quoted} is not an address; write host:port, such as redis-1.example.com:6379`);
    return z.NEVER;
  }
  return { host, port };
});
const nodesMax = 100;

/** Where state is kept: one server, a Sentinel group, or a cluster. */
export const RedisSchema = z
  .strictObject({
    url: RedisUrl.exactOptional().describe(
      'One server: redis://host:6379, rediss:// for TLS, or the path of a unix socket.',
    ),
    sentinels: z
      .array(Node)
      .min(1)
      .max(nodesMax)
      .exactOptional()
      .describe('The sentinels of a group, as host:port. They also need name.'),
    name: z.string().min(1).exactOptional().describe('The name of the group at the sentinels.'),
    cluster: z
      .array(Node)
      .min(1)
      .max(nodesMax)
      .exactOptional()
      .describe('Some nodes of a cluster, as host:port.'),
    username: z
      .string()
      .min(1)
      .exactOptional()
      .describe('The user name for sentinels or cluster. With url, write it into the URL.'),
    password: secretText(unprintable)
      .exactOptional()
      .describe(`The password. Take it from the environment: \${REDIS_PASSWORD}.`),
    passwordFile: secretFile('the password', 'password'),
    tls: z
      .boolean()
      .default(false)
      .describe('Whether to use TLS to sentinels or cluster. With url, write rediss://.'),
    caFile: filePath()
      .exactOptional()
      .describe(
        'A PEM file with certificate authorities to trust beside the public ones, for TLS. Relative to the config file.',
      ),
    keyPrefix: z
      .string()
      .regex(/^[A-Za-z0-9_.-]{1,64}$/, 'must be 1 to 64 letters, digits, "_", "." or "-"')
      .default('upwave')
      .describe('The prefix of every key. Several fleets can share a Redis with different prefixes.'),
  })
  .check(oneOf(['url', 'sentinels', 'cluster']))
  .check(
    wholeCheck((redis, report) => {
      const { url, sentinels, name, username, password, passwordFile, tls, caFile } = redis;
      if (sentinels !== undefined && name === undefined) {
        report("is missing; sentinels need the group's name", ['name']);
      }
      if (sentinels === undefined && name !== undefined) report('is for sentinels only; remove it', ['name']);
      reportSeveral(redis, ['password', 'passwordFile'], report);
      const isTls = url instanceof Secret ? url.reveal().startsWith('rediss:') : tls === true;
      if (caFile !== undefined && !isTls) {
        report(`is for TLS; ${url === undefined ? 'set tls: true' : 'write rediss:// in url'}`, ['caFile']);
      }
      if (url === undefined) return;
      if (tls === true) report('is for sentinels and cluster; write rediss:// in url', ['tls']);
      if (username !== undefined) report('is for sentinels and cluster; write it in url', ['username']);
      const hasPasswordBeside = password !== undefined || passwordFile !== undefined;
      if (url instanceof Secret && hasPasswordBeside) checkPasswordBeside(url.reveal(), report);
    }),
  )
  .describe('The Redis that keeps the state. Without this key, the option --redis names it.');

function checkPasswordBeside(url: string, report: WholeReport): void {
  if (url.startsWith('/') || url.startsWith('unix:')) {
    report('is a socket, which takes no password; remove the password', ['url']);
  } else if (URL.canParse(url) && new URL(url).password !== '') {
    report('contains a password, and another one is given; keep one', ['url']);
  }
}

/** The URL of a server with the password from the other key. */
export function withPassword(url: Secret, password: Secret | undefined): Secret {
  if (password === undefined) return url;
  const full = new URL(url.reveal());
  full.password = encodeURIComponent(password.reveal());
  return new Secret(full.href);
}

/** The mistake in the URL of a Redis server. The text never repeats the URL, which may contain a password (P12). */
export type RedisUrlProblem = 'shape' | 'passwordInQuery';

/** @returns undefined for `redis://host`, `rediss://host`, `unix:///path` and `/path` */
export function redisUrlProblem(text: string): RedisUrlProblem | undefined {
  if (hasPasswordInQuery(text)) return 'passwordInQuery';
  return isRedisUrl(text) ? undefined : 'shape';
}

/** The client reads any setting from a query, even after a path, where nobody expects a secret. */
function hasPasswordInQuery(text: string): boolean {
  const start = text.indexOf('?');
  if (start === -1) return false;
  return [...new URLSearchParams(text.slice(start + 1)).keys()].some((key) => /passw/i.test(key));
}

function isRedisUrl(text: string): boolean {
  // The client would read the text after two slashes as a host with its password.
  if (text.startsWith('/')) return text.length > 1 && !text.startsWith('//');
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.hash !== '') return false;
  if (url.protocol === 'unix:') return url.pathname.length > 1 && url.host === '';
  return (
    (url.protocol === 'redis:' || url.protocol === 'rediss:') &&
    url.hostname !== '' &&
    /^(\/\d*)?$/.test(url.pathname)
  );
}
