import { openThroughProxy } from './connections.ts';
import { exchange, type RawAnswer, type RawRequest } from './exchange.ts';

export interface SingleRequest extends Omit<RawRequest, 'origin' | 'target'> {
  readonly url: URL;
  /** PEM of authorities that are trusted in addition to the public ones. */
  readonly ca?: string;
}

interface SingleRequestLimits {
  /** From the call to the last byte of the response. */
  readonly totalMs: number;
  readonly bodyBytesMax: number;
}

/**
 * Sends one request over its own connection, through the proxy that the environment names, and reads the whole response, whatever its status. It does not retry, and
 * follows no redirect, so that its headers reach no other host (P12).
 * @throws HttpFault for every fault of a network or a server
 */
export async function requestOnce(
  request: SingleRequest,
  { totalMs, bodyBytesMax }: SingleRequestLimits,
  signal?: AbortSignal,
): Promise<RawAnswer> {
  const { url, ca, ...rest } = request;
  const client = openThroughProxy(url.origin, { connections: 1, connectMs: totalMs, ca });
  try {
    const target = `${url.pathname}${url.search}`;
    return await exchange(
      client,
      { ...rest, origin: url.origin, target },
      totalMs,
      () => ({ bytesMax: bodyBytesMax }),
      signal,
    );
  } finally {
    await client.destroy();
  }
}
