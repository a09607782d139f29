import { rootCertificates } from 'node:tls';
import { Client } from 'undici';
import { makeTextReader } from './body-reader.ts';
import { exchange, type RawAnswer, type RawRequest } from './exchange.ts';

export interface SingleRequest extends Omit<RawRequest, 'target'> {
  readonly url: URL;
  /** PEM of authorities to trust beside the public ones. */
  readonly ca?: string;
}

interface SingleRequestLimits {
  /** From the call to the answer's last byte. */
  readonly totalMs: number;
  readonly bodyBytesMax: number;
}

/**
 * Sends one request over a connection of its own, and reads the whole answer, whatever its status. No retry, and no
 * redirect: a 3xx is an answer, so its headers reach no other host (P12).
 * @throws HttpFault for everything that a network or a server can do
 */
export async function requestOnce(
  request: SingleRequest,
  { totalMs, bodyBytesMax }: SingleRequestLimits,
  signal?: AbortSignal,
): Promise<RawAnswer<string>> {
  const { url, ca, ...rest } = request;
  const client = new Client(url.origin, {
    connectTimeout: totalMs,
    pipelining: 1,
    // Said here, so that no variable of the environment turns it off.
    connect: { rejectUnauthorized: true, ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }) },
  });
  try {
    const limits = { totalMs, headersMs: totalMs, bodyMs: totalMs };
    const target = `${url.pathname}${url.search}`;
    return await exchange(client, { ...rest, target }, limits, () => makeTextReader(bodyBytesMax), signal);
  } finally {
    await client.destroy();
  }
}
