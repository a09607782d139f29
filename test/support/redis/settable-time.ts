import type { RedisCommands } from '../../../src/redis/connection/connection.ts';

/** Stands before a script: what it takes from `TIME` is read from a key, in microseconds. */
const timeFromKey = (key: string) => `
local redis = (function(real)
  local function call(name, ...)
    if name ~= 'TIME' then return real.call(name, ...) end
    local microseconds = real.call('GET', '${key}')
    return { string.sub(microseconds, 1, -7), string.sub(microseconds, -6) }
  end
  return setmetatable({ call = call }, { __index = real })
end)(redis)
`;

/**
 * A connection whose scripts take the time from a clock that the test sets, because the clock of Redis cannot be set. The
 * clock stands still between two settings, however long the machine takes. Expiries of keys stay in real time.
 */
export function withSettableTime(commands: RedisCommands, key: string): RedisCommands {
  const prefix = timeFromKey(key);
  return new Proxy(commands, {
    get(target, name) {
      // The hash is that of the script without the clock, so the caller sends the source.
      if (name === 'evalsha')
        return () => Promise.reject(new Error('NOSCRIPT The script takes a settable time.'));
      if (name === 'eval')
        return (lua: string, ...rest: [number, ...string[]]) => target.eval(prefix + lua, ...rest);
      return Reflect.get(target, name);
    },
  });
}

/** The clock of `withSettableTime`, of which each key has its own. */
export function settableTime(commands: RedisCommands, key: string) {
  const clock = { at: 0 };
  const setTo = async (ms: number): Promise<void> => {
    clock.at = ms;
    await commands.set(key, (ms * 1_000).toFixed(0));
  };
  return { clock, setTo, pass: (forMs: number) => setTo(clock.at + forMs) };
}
