import { makeWriteMarks } from '../connection/commands.ts';

/** The permits of this process: those in use, and those to return with the next reservation or soon after. */
export function makePermits(
  remove: (permits: readonly string[]) => Promise<unknown>,
  onFailed: (error: unknown) => void,
) {
  const held = new Set<string>();
  let returned: string[] = [];

  function takeReturned(): readonly string[] {
    const taken = returned;
    returned = [];
    return taken;
  }

  async function flush(): Promise<void> {
    const returned = takeReturned();
    // Lost permits expire by themselves.
    if (returned.length > 0) await remove(returned).catch(onFailed);
  }

  return {
    next: makeWriteMarks(),
    hold: (permit: string) => {
      held.add(permit);
    },
    takeReturned,
    /** Keeps permits that a failed reservation did not return. */
    keep: (permits: readonly string[]) => {
      returned.push(...permits);
    },
    giveBack: (permit: string) => {
      if (!held.delete(permit)) return;
      returned.push(permit);
      // The next reservation returns it. Without one in this turn, it is returned separately.
      if (returned.length === 1) setImmediate(() => void flush());
    },
    giveBackAll: () => {
      returned.push(...held);
      held.clear();
      return flush();
    },
  };
}
