import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { DurationMs } from '../../base/time.ts';
import type { ConfigRegister, NamedConfig } from '../../orchestrator/ports/config-register.ts';
import { makeScript, runScript } from '../connection/commands.ts';
import type { RedisCommands } from '../connection/connection.ts';

// Some beats may be lost, or late, before a daemon is taken for gone.
const livesMs: DurationMs = 10_000;

// The oldest generations go first; a living daemon would need ten thousand newer configs to lose its own.
const generationsMax = 10_000;

/**
 * Notes that a daemon lives, gives each config that is new here the next generation, and answers all that live, with the
 * generations of their configs. By Redis's clock, since those of daemons differ. KEYS: daemons, generations. ARGV: daemon,
 * life in ms, most generations, body; then the configs that get a new generation.
 */
const beatScript = makeScript(`
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function newest(member)
  local last = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')
  local next = (tonumber(last[2]) or 0) + 1
  redis.call('ZADD', KEYS[2], next, member)
  return next
end
local function generationOf(member)
  local score = redis.call('ZSCORE', KEYS[2], member)
  return score and tonumber(score) or newest(member)
end
for at = 5, #ARGV do newest(ARGV[at]) end
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', now) .. ' ' .. ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local living = {}
local all = redis.call('HGETALL', KEYS[1])
for at = 1, #all, 2 do
  local beatAt, body = string.match(all[at + 1], '^(%d+) (.*)$')
  local isRead, said = pcall(cjson.decode, body or '')
  if not beatAt or not isRead or now - tonumber(beatAt) > tonumber(ARGV[2]) then
    redis.call('HDEL', KEYS[1], all[at])
  else
    for _, config in ipairs(said.configs) do
      config.generation = generationOf(config.policy .. '\\n' .. config.hash)
    end
    said.daemon = all[at]
    living[#living + 1] = cjson.encode(said)
  end
end
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -1 - tonumber(ARGV[3]))
return living
`);

const said = z.object({
  daemon: z.string(),
  followsSchedule: z.boolean(),
  account: z.string(),
  // An empty table of Lua is an object.
  configs: z.union([
    z.array(z.object({ policy: z.string(), hash: z.string(), generation: z.number() })),
    z.object({}).transform(() => []),
  ]),
});

/**
 * The daemons that live, in one hash beside the leader lease, and the generations of all configs that were ever seen.
 * @param own hash of each policy of the config
 */
export function makeRedisConfigRegister(parts: {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
  readonly followsSchedule: boolean;
  /** What names the account of this daemon to the others: no credential (P12). */
  readonly readAccount: () => Promise<string>;
  readonly own: readonly NamedConfig[];
}): ConfigRegister {
  const { commands, keyPrefix, followsSchedule, readAccount } = parts;
  let { own } = parts;
  let renewed: readonly NamedConfig[] = [];
  const keys = { daemons: `${keyPrefix}:{leader}:daemons`, generations: `${keyPrefix}:{leader}:configs` };
  const daemon = randomUUID();
  return {
    beat: async () => {
      const account = await readAccount();
      const body = JSON.stringify({ followsSchedule, account, configs: own });
      const renewing = renewed;
      const answer = await runScript(commands, beatScript, {
        keys: [keys.daemons, keys.generations],
        args: [
          ...[daemon, livesMs, generationsMax, body],
          ...renewing.map(({ policy, hash }) => `${policy}\n${hash}`),
        ],
      });
      if (renewed === renewing) renewed = [];
      // What a later version says otherwise is left out: it would take its own for newer in any case.
      const living = z
        .array(z.string())
        .parse(answer)
        .flatMap((text) => {
          const read = said.safeParse(JSON.parse(text));
          return read.success ? [read.data] : [];
        });
      return {
        account,
        own: living.find((each) => each.daemon === daemon)?.configs ?? [],
        others: living.filter((each) => each.daemon !== daemon),
      };
    },
    replace: (present) => {
      const before = new Map(own.map(({ policy, hash }) => [policy, hash]));
      renewed = present.filter(({ policy, hash }) => before.get(policy) !== hash);
      own = present;
    },
    leave: async () => {
      await commands.hdel(keys.daemons, daemon);
    },
  };
}
