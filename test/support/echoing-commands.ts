import type { RedisCommands } from '../../src/redis/connection/connection.ts';

/** A connection that sends each script twice, as ioredis does when the first answer was lost. */
export function echoingCommands(
  commands: RedisCommands,
  between: () => Promise<unknown> = async () => undefined,
): RedisCommands {
  return onScripts(commands, async (send) => {
    await send();
    await between();
    return send();
  });
}

/** A connection that fails before it sends a script with a key of this ending, as if the daemon was killed. */
export function dyingCommands(commands: RedisCommands, ending: string): RedisCommands {
  return onScripts(commands, (send, args) => {
    const isLast = args.some((arg) => typeof arg === 'string' && arg.endsWith(ending));
    return isLast ? Promise.reject(new Error('killed')) : send();
  });
}

/** A connection on which the test decides how each script is sent. */
export function onScripts(
  commands: RedisCommands,
  handle: (send: () => Promise<unknown>, args: readonly unknown[]) => Promise<unknown>,
): RedisCommands {
  return new Proxy(commands, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if ((name !== 'evalsha' && name !== 'eval') || typeof value !== 'function') return value;
      return (...args: unknown[]) =>
        handle(async () => (await Reflect.apply(value, target, args)) as unknown, args);
    },
  });
}
