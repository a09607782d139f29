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

/** The place of Redis: one server, a master named by sentinels, or a cluster. */
export type RedisConfig = {
  /** The prefix of every key and channel, so that several installations can share one Redis. */
  readonly keyPrefix: string;
  /** For TLS: PEM of authorities that are trusted in addition to the public ones. */
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

/** Removes the credentials of this config from a text, for logs and errors (P12). */
export function redactRedisText(text: string, config: RedisConfig): string {
  const withoutUrl = 'url' in config ? text.replaceAll(config.url, placeOf(config.url)) : text;
  return redisSecretsOf(config).reduce((clean, secret) => clean.replaceAll(secret, '***'), withoutUrl);
}

/** The place of Redis, without credentials. */
export function describeRedis(config: RedisConfig): string {
  if ('url' in config) return placeOf(config.url);
  if ('sentinels' in config) return `${config.name} at sentinels ${addressesText(config.sentinels)}`;
  return `cluster ${addressesText(config.cluster)}`;
}

/** Every password of this config, in each form that a text may contain, the longest first. */
export function redisSecretsOf(config: RedisConfig): readonly string[] {
  const secrets = 'url' in config ? passwordsIn(config.url) : [config.password ?? ''];
  return secrets.filter((secret) => secret !== '').sort((a, b) => b.length - a.length);
}

/**
 * Builds the text from the parts without secrets. Masking would need a rule for where a password ends, and the client has
 * its own: it reads up to the last `@`, including blanks.
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

/** The password of a URL: URL-encoded, as written, and decoded. */
function passwordsIn(url: string): string[] {
  const encoded = URL.canParse(url) ? new URL(url).password : '';
  if (encoded === '') return [];
  const written = /^[^/]*\/\/[^/:]*:(.*)@/s.exec(url)?.[1] ?? '';
  try {
    return [encoded, written, decodeURIComponent(encoded)];
  } catch {
    // It was not percent-encoded.
    return [encoded, written];
  }
}
