import { refusedInfo } from './client-patches.ts';
import type { RedisCommands, RedisConnection } from './connection.ts';
import { isRightsRefusal } from './redis-errors.ts';

/** What Redis refuses to our user, in the words of `ACL SETUSER` that grant it: `+eval`, `~upwave:*`, `&upwave:*`. */
export interface RefusedRights {
  /** Nothing gets on without these. */
  readonly needed: readonly string[];
  /** Work goes on without these, and something is missing: see `optionalRights`. */
  readonly optional: readonly string[];
}

/** What is missing without a right that a daemon can do without. */
const optionalRights = {
  info: "Redis's memory policy and append-only file can't be checked",
  publish: 'daemons hear of each other a second late',
  subscribe: 'daemons hear of each other a second late',
} as const;

/** The mark that is tried lives so long, if the DEL at the end is refused. */
const triedKeptMs = 10_000;

// Each on a key that holds a text: most answer WRONGTYPE then, and change nothing. Rights are judged before that. A test
// compares them with what a whole rollout sends, scripts included.
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

/** Every command that is tried. */
export const triedCommands: readonly string[] = [
  ...Object.keys(triedOnKey),
  ...['set', 'rename', 'rpoplpush', 'time', 'eval', 'evalsha', 'info', 'publish', 'subscribe', 'del'],
];

export interface RedisRightsParts {
  readonly commands: RedisCommands;
  /** The one that listens: where it was refused that, it tries again with each check. */
  readonly subscriber: RedisConnection;
  readonly keyPrefix: string;
}

/**
 * Tries each command that a daemon sends, on a key under our prefix: `ACL DRYRUN` and `ACL WHOAMI` may be refused
 * themselves. It changes nothing that lasts.
 * @throws when Redis gives no answer
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
      // What else Redis answers means that it would have been allowed.
      else if (!(error instanceof Error) || error.name !== 'ReplyError') throw error;
    }
  };
  const one = (name: string, ...args: readonly string[]) => tried(commands.call(name, ...args), name);

  await one('set', key, '1', 'PX', String(triedKeptMs));
  // Without the text there, the others would leave something behind that lasts.
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
 * The right that an error of Redis asks for, as `ACL SETUSER` takes it; undefined for a command in a script that Redis
 * does not name.
 */
export function rightOf(error: Error, keyPrefix: string): string | undefined {
  const { message } = error;
  const [, named] = /\brun the '([^']+)' command/.exec(message) ?? [];
  if (named !== undefined) return `+${named}`;
  if (/\bchannels?\b/.test(message)) return `&${keyPrefix}:*`;
  if (/\bkeys?\b/.test(message)) return `~${keyPrefix}:*`;
  return undefined;
}

/** Whether work goes on without it. */
export function isOptionalRight(right: string, keyPrefix: string): boolean {
  return right === `&${keyPrefix}:*` || right.slice(1) in optionalRights;
}

/** Whether the check tries the command of this right. */
export function isTriedRight(right: string): boolean {
  return right.startsWith('+') && triedCommands.includes(right.slice(1));
}

/** What is missing without these, and what grants them. */
export function describeMissingRights(rights: readonly string[]): string {
  const losses: Readonly<Record<string, string>> = optionalRights;
  const lost = new Set(rights.map((right) => losses[right.slice(1)] ?? optionalRights.subscribe));
  return `Redis refuses its user ${rights.join(' ')}: ${[...lost].join('; ')}. Grant it: ${grantOf(rights)}.`;
}

/** What a person types at Redis. */
export function grantOf(rights: readonly string[]): string {
  return `ACL SETUSER <user> ${rights.join(' ')}`;
}
