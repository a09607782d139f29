import { isIP } from 'node:net';
import { z } from 'zod';
import { isLoopbackHost } from '../../base/loopback.ts';
import { reservedNames } from '../../base/vocabulary.ts';
import {
  guessable,
  oneOf,
  reportSeveral,
  secretFile,
  secretText,
  uniqueNames,
  unprintable,
  wholeCheck,
  wholeNumber,
} from './value-schemas.ts';

const tokensMax = 200;
const addressesMax = 100;

const NamedTokenSchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[\w.@+-]{1,64}$/, 'must have 1 to 64 letters, digits or one of . _ @ + -')
      .refine((name) => !reservedNames.includes(name), 'is reserved; choose another name')
      .describe('The owner of the token. Events and the audit show this name.'),
    role: z
      .enum(['viewer', 'operator', 'metrics'])
      .describe(
        'What the token allows. A viewer reads everything. An operator does everything. Metrics reads only /metrics.',
      ),
    token: secretText(unprintable, guessable)
      .exactOptional()
      .describe('The token, of 16 characters or more.'),
    tokenFile: secretFile('the token', 'token'),
  })
  .check(oneOf(['token', 'tokenFile']));

const TrustedProxy = z
  .strictObject({
    addresses: z
      .array(
        z
          .string()
          .refine(isAddressOrNetwork, 'is not an address or network, such as 10.0.0.7 or 10.0.0.0/24'),
      )
      .min(1, 'is empty; name the addresses of the proxy')
      .max(addressesMax)
      .describe('The addresses or networks of the proxy. From any other address the header is ignored.'),
    userHeader: z
      .string()
      .regex(/^[A-Za-z0-9-]{1,64}$/, 'is not the name of a header')
      .default('x-forwarded-user')
      .describe(
        'The header in which the proxy names the user. The proxy must replace the header of its clients.',
      ),
    role: z.enum(['viewer', 'operator']).default('operator').describe('What users of the proxy may do.'),
  })
  .describe(
    'A proxy that authenticates users, for example by OIDC. Verbs are audited under the name of its user.',
  );

export type TrustedProxy = z.output<typeof TrustedProxy>;

/** upwave's own HTTP server: health, metrics, the admin API and the page. */
export const HttpSchema = z
  .strictObject({
    host: z
      .string()
      .min(1)
      .refine(isHost, 'is not a host name or address')
      .refine(
        (host) => !isZoned(host),
        `names an interface after "%", which no URL can hold; write an address without it, such as 127.0.0.1, or :: for all addresses of this machine`,
      )
      .default('127.0.0.1')
      .describe('The host to listen on. Any host but loopback needs a token.'),
    port: wholeNumber(0, 65_535).default(9464).describe('The port to listen on. 0 takes a free port.'),
    token: secretText(unprintable, guessable)
      .exactOptional()
      .describe(
        `The bearer token that callers must send, of 16 characters or more. Take it from the environment: \${UPWAVE_TOKEN}.`,
      ),
    tokenFile: secretFile('the token', 'token'),
    publicUrl: z
      .string()
      .regex(
        /^https?:\/\/[^\s@?#]+$/i,
        'must be an address such as https://upwave.example.com, without a user name, "?" and "#"',
      )
      .transform((url) => url.replace(/\/+$/, ''))
      .exactOptional()
      .describe('The address at which people reach the page. Notifications link to it.'),
    docs: z
      .enum(['public', 'token'])
      .default('token')
      .describe(
        'Who may read the guides at /docs/. token: callers who may read the state. public: everyone who reaches the daemon.',
      ),
    tokens: z
      .array(NamedTokenSchema)
      .max(tokensMax)
      .check(uniqueNames('token'))
      .default([])
      .describe('Tokens of people and programs. Verbs are audited under their names.'),
    trustedProxy: TrustedProxy.exactOptional(),
  })
  .check(
    wholeCheck((http, report) => {
      const { host, token, tokenFile, tokens, trustedProxy } = http;
      reportSeveral(http, ['token', 'tokenFile'], report);
      if (
        typeof host === 'string' &&
        !isLoopbackHost(host) &&
        token === undefined &&
        tokenFile === undefined &&
        !isGiven(tokens) &&
        trustedProxy === undefined
      ) {
        report(
          'is reachable from other machines, which needs a token; give token, tokenFile or tokens, or use 127.0.0.1',
          ['host'],
        );
      }
    }),
  )
  .describe("upwave's own HTTP server: health, metrics, the admin API and the page.");

function isGiven(list: unknown): boolean {
  return Array.isArray(list) && list.length > 0;
}

function isAddressOrNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/** A zone in an IPv6 address: commands on this machine could not reach the daemon there. */
function isZoned(host: string): boolean {
  return isIP(host) === 6 && host.includes('%');
}

function isHost(host: string): boolean {
  return (
    isIP(host) !== 0 ||
    (/^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(host) && !/^[\d.]+$/.test(host))
  );
}
