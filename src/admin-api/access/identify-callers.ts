import { createHash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import type { CallerRole } from '../../contract/admin/caller.ts';
import type { HttpRequest } from '../../http/operation-handlers.ts';
import { isListed } from './remote-network.ts';

/** The caller, as far as the daemon knows it. */
export interface Caller {
  /** The name of the token, or of the proxy's user; null: an operator without a name. */
  readonly name: string | null;
  readonly role: CallerRole;
}

export interface NamedToken extends Caller {
  readonly name: string;
  readonly token: string;
}

/** A proxy that authenticates users itself. */
export interface TrustedProxy {
  /** Addresses and networks (`10.0.0.0/8`) from which the header is trusted. */
  readonly addresses: readonly string[];
  readonly userHeader: string;
  readonly role: CallerRole;
}

/** Without any token only connections from this machine are served. */
export interface CallersParts {
  /** The token of one operator without a name. */
  readonly token: string | undefined;
  readonly tokens: readonly NamedToken[];
  readonly trustedProxy: TrustedProxy | undefined;
  /** Whether the guides need a token, as other reads do, where one is set. */
  readonly docs: DocsAccess;
}

export type DocsAccess = 'public' | 'token';

export type Callers = ReturnType<typeof makeCallers>;

/** Identifies callers. */
export function makeCallers(parts: CallersParts) {
  let known = knownCallers(parts);
  let { docs } = parts;
  return {
    /** The user that a trusted proxy names, else the owner of the bearer token; undefined: neither is known. */
    identify: (request: HttpRequest) => known.identify(request),
    /** Where no token is set, this machine may connect without one. */
    hasTokens: () => known.hasTokens,
    docs: () => docs,
    /** Replaces the known callers. */
    replace: (next: CallersParts): void => {
      known = knownCallers(next);
      docs = next.docs;
    },
  };
}

function knownCallers({ token, tokens, trustedProxy }: CallersParts) {
  const known = [
    ...(token === undefined
      ? []
      : [{ caller: { name: null, role: 'operator' as const }, digest: digest(token) }]),
    ...tokens.map(({ name, role, token: text }) => ({ caller: { name, role }, digest: digest(text) })),
  ];
  const userOf = trustedProxy === undefined ? () => undefined : makeUserOf(trustedProxy);
  return {
    hasTokens: known.length > 0,
    identify: (request: HttpRequest): Caller | undefined => {
      const user = userOf(request);
      if (user !== undefined) return user;
      const token = bearerOf(request);
      if (token === undefined) return undefined;
      // Digests have one length, and all of them are compared, so the time of a comparison reveals nothing.
      const asked = digest(token);
      return known.filter((each) => timingSafeEqual(asked, each.digest)).at(0)?.caller;
    },
  };
}

export function bearerOf({ headers }: HttpRequest): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
}

/** A name for events, without control characters and other parts of the header. */
const userName = /^[\w.@+-]{1,64}$/;

function makeUserOf({
  addresses,
  userHeader,
  role,
}: TrustedProxy): (request: HttpRequest) => Caller | undefined {
  const trusted = new BlockList();
  for (const each of addresses) {
    const [address = '', bits] = each.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(bits), family);
  }
  const header = userHeader.toLowerCase();
  return ({ remoteAddress, headers }) => {
    if (!isListed(trusted, remoteAddress)) return undefined;
    const name = headers[header];
    return typeof name === 'string' && userName.test(name) ? { name, role } : undefined;
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
