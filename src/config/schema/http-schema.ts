import { isIP } from 'node:net';
import { z } from 'zod';
import { filePath, guessable, secretText, unprintable, wholeCheck } from './value-schemas.ts';

/** Our own HTTP server: health, metrics, the admin API and the page. */
export const HttpSchema = z
  .strictObject({
    host: z
      .string()
      .min(1)
      .refine(isHost, 'is no host name or address')
      .refine(
        (host) => !isZoned(host),
        `names an interface after "%", which no URL can hold; write an address without it, such as 127.0.0.1, or :: to listen on all of this machine's`,
      )
      .default('127.0.0.1')
      .describe('The host to listen on. Any host but loopback needs a token.'),
    port: z
      .number()
      .int()
      .min(0)
      .max(65_535)
      .default(9464)
      .describe('The port to listen on. 0 takes a free port.'),
    token: secretText(unprintable, guessable)
      .exactOptional()
      .describe(
        `The bearer token that callers must send, of 16 characters or more. Take it from the environment: \${UPWAVE_TOKEN}.`,
      ),
    tokenFile: filePath()
      .exactOptional()
      .describe('A file with the token, instead of token. Relative to the config file.'),
    publicUrl: z
      .string()
      .regex(
        /^https?:\/\/[^\s@?#]+$/i,
        'must be an address such as https://upwave.example.com, without a user name, "?" and "#"',
      )
      .transform((url) => url.replace(/\/+$/, ''))
      .exactOptional()
      .describe('The address at which people reach the page. Notifications link to it.'),
  })
  .check(
    wholeCheck((http, report) => {
      const { host, token, tokenFile } = http;
      if (token !== undefined && tokenFile !== undefined)
        report('both token and tokenFile are given; keep one', ['tokenFile']);
      if (typeof host === 'string' && !isLoopback(host) && token === undefined && tokenFile === undefined) {
        report(
          'is reachable from other machines, which needs a token; give token or tokenFile, or use 127.0.0.1',
          ['host'],
        );
      }
    }),
  )
  .describe("upwave's own HTTP server: health, metrics, the admin API and the page.");

/** Of an IPv6 address; the commands of this machine could not ask the daemon there. */
function isZoned(host: string): boolean {
  return isIP(host) === 6 && host.includes('%');
}

function isHost(host: string): boolean {
  return (
    isIP(host) !== 0 ||
    (/^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(host) && !/^[\d.]+$/.test(host))
  );
}

/** True when only this machine answers at this host. @param host without the brackets of an IPv6 address */
export function isLoopback(host: string): boolean {
  if (host.toLowerCase() === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
