import { createHash } from 'node:crypto';
import type { EpochMs } from '../../../src/base/time.ts';
import type { RedisCommands } from '../../../src/redis/connection/connection.ts';

/** Precedes a script: `TIME` answers with the last argument, in microseconds, which follows those that the script names. */
const prelude = `
local redis = (function(real)
  local function call(name, ...)
    if name ~= 'TIME' then return real.call(name, ...) end
    local microseconds = ARGV[#ARGV]
    return { string.sub(microseconds, 1, -7), string.sub(microseconds, -6) }
  end
  return setmetatable({ call = call }, { __index = real })
end)(redis)
`;

type Rest = [number, ...string[]];

/**
 * A connection whose scripts take the time from a clock of the test, because the clock of Redis cannot be set. The clock
 * stands still between two settings, however long the machine takes. Expiries of keys stay in real time.
 * @param change what else is changed in the source of each script
 */
export function withSettableTime(
  commands: RedisCommands,
  clock: { now(): EpochMs },
  change: (lua: string) => string = (lua) => lua,
): RedisCommands {
  /** By the hash of the script as the caller knows it. */
  const changed = new Map<string, { readonly lua: string; readonly sha1: string }>();
  const microseconds = () => (clock.now() * 1_000).toFixed(0);
  const evalsha = (sha1: string, ...rest: Rest) => {
    const script = changed.get(sha1);
    return script === undefined
      ? Promise.reject(new Error('NOSCRIPT The script is not known with this clock.'))
      : commands.evalsha(script.sha1, ...rest, microseconds());
  };
  const evaluate = (source: string, ...rest: Rest) => {
    const lua = prelude + change(source);
    changed.set(sha1Of(source), { lua, sha1: sha1Of(lua) });
    return commands.eval(lua, ...rest, microseconds());
  };
  return new Proxy(commands, {
    get(target, name) {
      if (name === 'evalsha') return evalsha;
      return name === 'eval' ? evaluate : Reflect.get(target, name);
    },
  });
}

/** A clock for `withSettableTime`. */
export function settableTime(startsAt: EpochMs) {
  let now = startsAt;
  return {
    now: () => now,
    pass: (forMs: number) => {
      now += forMs;
    },
  };
}

function sha1Of(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}
