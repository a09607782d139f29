import { refusedInfo } from './client-patches.ts';
import type { RedisCommands, RedisConnection } from './connection.ts';
import { isRightsRefusal } from './redis-errors.ts';

/** The rights that Redis refuses to upwave's user, as `ACL SETUSER` takes them: `+eval`, `~upwave:*`, `&upwave:*`. */
export interface RefusedRights {
  /** upwave cannot work without these. */
  readonly needed: readonly string[];
  /** upwave works without these, with the losses in `optionalRights`. */
  readonly optional: readonly string[];
}

/** The loss without each optional right. */
const optionalRights = {
  info: "Redis's memory policy and append-only file can't be checked",
  publish: 'wake-ups between daemons are a second late',
  subscribe: 'wake-ups between daemons are a second late',
} as const;

/** How long the test key lives if the final DEL is refused. */
const triedKeptMs = 10_000;

// Each command is sent for a key with a string: most reply WRONGTYPE, and change nothing. Redis checks rights before that. A
// test compares this list with the commands of a whole rollout, including scripts.
const triedOnKey: Readonly<Record<string, readonly string[]>> = {
  get: [],
  mget: [],
  exists: [],
  pttl: [],
  pexpire: [String(triedKeptMs)],
  incr: [],
  hexists: ['f'],
  hget: ['f'],
  hmget: ['f'],
  hgetall: [],
  hkeys: [],
  hlen: [],
  hset: ['f', 'v'],
  hmset: ['f', 'v'],
  hsetnx: ['f', 'v'],
  hincrby: ['f', '1'],
  hincrbyfloat: ['f', '1'],
  hdel: ['f'],
  sadd: ['m'],
  srem: ['m'],
  scard: [],
  smembers: [],
  zadd: ['1', 'm'],
  zrem: ['m'],
  zcard: [],
  zcount: ['0', '1'],
  zrank: ['m'],
  zscore: ['m'],
  zrange: ['0', '1'],
  zrevrange: ['0', '1'],
  zrangebyscore: ['0', '1'],
  zrevrangebyscore: ['1', '0'],
  zremrangebyscore: ['0', '1'],
  zremrangebyrank: ['0', '1'],
  zpopmin: [],
  bzpopmin: ['0.01'],
  lpush: ['e'],
  rpush: ['e'],
  lrange: ['0', '1'],
  lindex: ['0'],
  llen: [],
  lrem: ['0', 'e'],
  lpos: ['e'],
  xadd: ['*', 'f', 'v'],
  xtrim: ['MAXLEN', '1'],
  xrange: ['-', '+'],
  xrevrange: ['+', '-'],
  persist: [],
};

/** Every checked command. */
export const triedCommands: readonly string[] = [
  ...Object.keys(triedOnKey),
  ...['set', 'rename', 'rpoplpush', 'time', 'eval', 'evalsha', 'info', 'publish', 'subscribe', 'del'],
];

export interface RedisRightsParts {
  readonly commands: RedisCommands;
  /** The subscriber, which retries a refused subscription at each check. */
  readonly subscriber: RedisConnection;
  readonly keyPrefix: string;
}

/**
 * Sends each command that a daemon needs, for a test key, because `ACL DRYRUN` and `ACL WHOAMI` may be refused themselves.
 * Nothing it changes lasts.
 * @throws when Redis does not reply
 */
export async function checkRedisRights(parts: RedisRightsParts): Promise<RefusedRights> {
  const { commands, subscriber, keyPrefix } = parts;
  const key = `${keyPrefix}:{leader}:tried:rights`;
  const channel = `${keyPrefix}:wakeUps`;
  const refused = new Set<string>();
  const tried = async (ask: Promise<unknown>, name: string): Promise<void> => {
    try {
      await ask;
    } catch (error) {
      if (isRightsRefusal(error)) refused.add(rightOf(error, keyPrefix) ?? `+${name}`);
      // Any other error reply means that the command is allowed.
      else if (!(error instanceof Error) || error.name !== 'ReplyError') throw error;
    }
  };
  const one = (name: string, ...args: readonly string[]) => tried(commands.call(name, ...args), name);

  await one('set', key, '1', 'PX', String(triedKeptMs));
  // Without the string there, the other commands would leave data.
  if (refused.size === 0) {
    await Promise.all([
      ...Object.entries(triedOnKey).map(([name, args]) => one(name, key, ...args)),
      one('rename', key, key),
      one('rpoplpush', key, key),
      one('time'),
      one('eval', 'return 1', '1', key),
      one('evalsha', '0'.repeat(40), '1', key),
      commands.info('server').then((text) => text === refusedInfo && refused.add('+info')),
      one('publish', `${channel}:tried`, ''),
      tried(subscriber.client.subscribe(channel), 'subscribe'),
    ]);
    await one('del', key);
  }
  const isOptional = (right: string) => isOptionalRight(right, keyPrefix);
  const rights = [...refused].sort();
  return { needed: rights.filter((right) => !isOptional(right)), optional: rights.filter(isOptional) };
}

/**
 * The right that an error asks for, as `ACL SETUSER` takes it; undefined for a command in a script that Redis does not name.
 */
export function rightOf(error: Error, keyPrefix: string): string | undefined {
  const { message } = error;
  const [, named] = /\brun the '([^']+)' command/.exec(message) ?? [];
  if (named !== undefined) return `+${named}`;
  if (/\bchannels?\b/.test(message)) return `&${keyPrefix}:*`;
  if (/\bkeys?\b/.test(message)) return `~${keyPrefix}:*`;
  return undefined;
}

/** True for a right that upwave can work without. */
export function isOptionalRight(right: string, keyPrefix: string): boolean {
  return right === `&${keyPrefix}:*` || right.slice(1) in optionalRights;
}

/** True for the right to a command that the check sends. */
export function isTriedRight(right: string): boolean {
  return right.startsWith('+') && triedCommands.includes(right.slice(1));
}

/** Describes the losses without these rights, and how to grant them. */
export function describeMissingRights(rights: readonly string[]): string {
  const losses: Readonly<Record<string, string>> = optionalRights;
  const lost = new Set(rights.map((right) => losses[right.slice(1)] ?? optionalRights.subscribe));
  return `Redis refuses its user ${rights.join(' ')}: ${[...lost].join('; ')}. Grant it: ${grantOf(rights)}.`;
}

/** The command that grants these rights. */
export function grantOf(rights: readonly string[]): string {
  return `ACL SETUSER <user> ${rights.join(' ')}`;
}
