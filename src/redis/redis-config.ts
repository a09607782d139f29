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
      readonly sentinelUsername?: string;
      readonly sentinelPassword?: string;
      readonly db?: number;
    } & Credentials)
  | ({ readonly cluster: readonly RedisAddress[] } & Credentials)
);

/** A text without the credentials of this config, for logs and errors (P12). */
export function redactRedisText(text: string, config: RedisConfig): string {
  const withoutUrls = text.replaceAll(/\/\/[^/\s@]*@/g, '//***@');
  return secretsOf(config).reduce((clean, secret) => clean.replaceAll(secret, '***'), withoutUrls);
}

/** Where Redis is, in words without credentials. */
export function describeRedis(config: RedisConfig): string {
  if ('url' in config) return redactRedisText(config.url, config);
  if ('sentinels' in config) return `${config.name} at sentinels ${addressesText(config.sentinels)}`;
  return `cluster ${addressesText(config.cluster)}`;
}

function addressesText(addresses: readonly RedisAddress[]): string {
  return addresses.map(({ host, port }) => `${host}:${port}`).join(', ');
}

function secretsOf(config: RedisConfig): readonly string[] {
  const secrets = 'url' in config ? secretsInUrl(config.url) : [config.password ?? ''];
  if ('sentinels' in config) secrets.push(config.sentinelPassword ?? '');
  return secrets.filter((secret) => secret !== '');
}

function secretsInUrl(url: string): string[] {
  const password = /\/\/[^/\s@]*:([^/\s@]*)@/.exec(url)?.[1] ?? '';
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    // Not percent-encoded after all: the text as it stands is the secret.
    return [password];
  }
}
