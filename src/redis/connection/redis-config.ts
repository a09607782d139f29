import { writeAddress } from '../../base/url-authority.ts';

/** One host of a Sentinel or Cluster deployment. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

interface Credentials {
  readonly username?: string;
  readonly password?: string;
  readonly tls?: boolean;
}

/** Where Redis is: one server, a master named by sentinels, or a cluster. */
export type RedisConfig = {
  /** Begins every key and channel, so that several installations can share one Redis. */
  readonly keyPrefix: string;
  /** PEM of authorities that are trusted beside the public ones, where the connection is TLS. */
  readonly ca?: string;
} & (
  | {
      /** `redis://user:password@host:port/db`, `rediss://…` for TLS, `unix:///path` or a bare `/path` to a socket. */
      readonly url: string;
    }
  | ({
      readonly sentinels: readonly RedisAddress[];
      /** The master's name at the sentinels. */
      readonly name: string;
    } & Credentials)
  | ({ readonly cluster: readonly RedisAddress[] } & Credentials)
);

/** A text without the credentials of this config, for logs and errors (P12). */
export function redactRedisText(text: string, config: RedisConfig): string {
  const withoutUrl = 'url' in config ? text.replaceAll(config.url, placeOf(config.url)) : text;
  return redisSecretsOf(config).reduce((clean, secret) => clean.replaceAll(secret, '***'), withoutUrl);
}

/** Where Redis is, in words without credentials. */
export function describeRedis(config: RedisConfig): string {
  if ('url' in config) return placeOf(config.url);
  if ('sentinels' in config) return `${config.name} at sentinels ${addressesText(config.sentinels)}`;
  return `cluster ${addressesText(config.cluster)}`;
}

/** Every password of this config, in each form in which it may stand in a text; the longest first. */
export function redisSecretsOf(config: RedisConfig): readonly string[] {
  const secrets = 'url' in config ? passwordsIn(config.url) : [config.password ?? ''];
  return secrets.filter((secret) => secret !== '').sort((a, b) => b.length - a.length);
}

/**
 * Built from the parts that are no secret. To mask the others in the text would take a rule for where a password ends,
 * and the client has one of its own: it goes to the last `@`, over blanks and others.
 */
function placeOf(url: string): string {
  const path = /^(?:unix:\/\/)?\/[^?#]*/.exec(url)?.[0];
  if (path !== undefined && !url.startsWith('//')) return path;
  if (!URL.canParse(url)) return 'an address that is not a URL';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${/^\/\d+$/.test(pathname) ? pathname : ''}`;
}

function addressesText(addresses: readonly RedisAddress[]): string {
  return addresses.map(writeAddress).join(', ');
}

/** The password of a URL as it was written, as a URL has it, and as it is meant. */
function passwordsIn(url: string): string[] {
  const encoded = URL.canParse(url) ? new URL(url).password : '';
  if (encoded === '') return [];
  const written = /^[^/]*\/\/[^/:]*:(.*)@/s.exec(url)?.[1] ?? '';
  try {
    return [encoded, written, decodeURIComponent(encoded)];
  } catch {
    // Not percent-encoded after all.
    return [encoded, written];
  }
}
