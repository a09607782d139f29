import { rootCertificates } from 'node:tls';
import { Client } from 'undici';
import { exchange, type RawAnswer, type RawRequest } from './exchange.ts';

export interface SingleRequest extends Omit<RawRequest, 'target'> {
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
 * Sends one request over its own connection, and reads the whole response, whatever its status. It does not retry, and
 * follows no redirect, so that its headers reach no other host (P12).
 * @throws HttpFault for every fault of a network or a server
 */
export async function requestOnce(
  request: SingleRequest,
  { totalMs, bodyBytesMax }: SingleRequestLimits,
  signal?: AbortSignal,
): Promise<RawAnswer> {
  const { url, ca, ...rest } = request;
  const client = new Client(url.origin, {
    connectTimeout: totalMs,
    pipelining: 1,
    // Set here, so that no environment variable disables it.
    connect: { rejectUnauthorized: true, ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }) },
  });
  try {
    const target = `${url.pathname}${url.search}`;
    return await exchange(client, { ...rest, target }, totalMs, () => ({ bytesMax: bodyBytesMax }), signal);
  } finally {
    await client.destroy();
  }
}
