import { rootCertificates } from 'node:tls';
import { type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { isLoopbackHost } from '../base/loopback.ts';
import { describeCertificateProblem, errorCodeOf } from '../base/node-errors.ts';

export interface ConnectionSettings {
  readonly connections: number;
  readonly connectMs: number;
  /** How long an idle connection is kept. A shorter time in the server's `keep-alive` header takes precedence. */
  readonly keepAliveMs?: number;
  /** PEM of authorities that are trusted in addition to the public ones. */
  readonly ca?: string | undefined;
}

/** Opens connections straight to the origin. */
export function openDirect(origin: string, settings: ConnectionSettings): Dispatcher {
  return new Pool(origin, poolOptions(settings));
}

/**
 * Opens connections through the proxy that `HTTPS_PROXY` or `HTTP_PROXY` names, unless `NO_PROXY` names the host. A
 * proxy opens a tunnel (CONNECT) for every request, so it can't read one with TLS. A request is written when its tunnel
 * is open, so the latest instant at which it may leave is judged as without a proxy (P4). An address of this machine
 * needs no proxy.
 * @param onProxy called at each tunnel, with the proxy's address without credentials (P12)
 */
export function openThroughProxy(
  origin: string,
  settings: ConnectionSettings,
  onProxy: (proxy: string) => void = () => undefined,
): Dispatcher {
  if (isLoopbackHost(new URL(origin).hostname)) return openDirect(origin, settings);
  const proxies = proxiesOfEnvironment();
  if (proxies === undefined) return openDirect(origin, settings);
  if (proxies instanceof ProxyError) return new Pool(origin, { connect: (_to, done) => done(proxies, null) });
  const options = poolOptions(settings);
  // Half of the time is for the tunnel: an error then names the proxy before the whole request times out.
  const tunnelMs = Math.ceil(settings.connectMs / 2);
  const tls = { ...options.connect, timeout: tunnelMs };
  return new EnvHttpProxyAgent({
    ...options,
    ...proxies,
    requestTls: tls,
    proxyTls: tls,
    clientFactory: (proxy, given) =>
      tunnelsThrough(proxy.origin, new Pool(proxy.origin, { ...given, headersTimeout: tunnelMs }), onProxy),
  });
}

/** The proxy does not let a request through. The message is for the operator, and has no credential (P12). */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  readonly code = 'ERR_PROXY';
}

function poolOptions({ connections, connectMs, keepAliveMs, ca }: ConnectionSettings) {
  return {
    connections,
    connectTimeout: connectMs,
    pipelining: 1,
    ...(keepAliveMs === undefined ? {} : { keepAliveTimeout: keepAliveMs }),
    // Set here, so that no environment variable disables it.
    connect: { rejectUnauthorized: true, ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }) },
  };
}

/** The proxies by the protocol of the target; undefined without any. Like for curl, `http://` may be left out. */
function proxiesOfEnvironment(): Readonly<Record<string, string>> | ProxyError | undefined {
  const proxies: Record<string, string> = {};
  for (const protocol of ['http', 'https']) {
    const names = [`${protocol}_proxy`, `${protocol}_proxy`.toUpperCase()];
    const name = names.find((each) => process.env[each] !== undefined);
    const value = name === undefined ? '' : (process.env[name] ?? '');
    if (value === '') continue;
    const url = value.includes('://') ? value : `http://${value}`;
    if (!isProxyUrl(url))
      return new ProxyError(`${name} is not the address of a proxy: write http://host:port`);
    proxies[`${protocol}Proxy`] = url;
  }
  return Object.keys(proxies).length === 0 ? undefined : proxies;
}

function isProxyUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  try {
    // The library decodes both, and throws when it can't.
    decodeURIComponent(username + password);
  } catch {
    return false;
  }
  return protocol === 'http:' || protocol === 'https:';
}

/** Gives each failure of a tunnel the proxy's address: the library passes on errors that could be the target's. */
function tunnelsThrough(proxy: string, pool: Pool, onProxy: (proxy: string) => void): Pool {
  const connect = pool.connect.bind(pool) as (
    given: Dispatcher.ConnectOptions,
  ) => Promise<Dispatcher.ConnectData>;
  return Object.assign(pool, {
    connect: async (given: Dispatcher.ConnectOptions) => {
      const tunnel = await connect(given).catch((cause: unknown) => {
        throw new ProxyError(`the proxy ${proxy} ${describeFailure(cause)}`, { cause });
      });
      const { statusCode, socket } = tunnel;
      if (statusCode === 200) {
        onProxy(proxy);
        return tunnel;
      }
      socket.on('error', () => undefined).destroy();
      throw new ProxyError(`the proxy ${proxy} ${describeStatus(statusCode, given.path)}`);
    },
  });
}

function describeFailure(cause: unknown): string {
  const certificate = describeCertificateProblem(cause, 'caFile');
  return certificate === undefined
    ? `did not answer (${errorCodeOf(cause) ?? 'unknown error'})`
    : `is not trusted: ${certificate}`;
}

function describeStatus(status: number, target: string | undefined): string {
  return status === 407
    ? 'requires a valid user and password (407)'
    : `did not connect to ${target} (${status})`;
}
