import { makeWriteMarks } from '../connection/commands.ts';

/** The permits of this process: those in use, and those that go back with the next reservation or soon after. */
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
    const given = takeReturned();
    // Lost ones come back by themselves when their life is over.
    if (given.length > 0) await remove(given).catch(onFailed);
  }

  return {
    next: makeWriteMarks(),
    hold: (permit: string) => {
      held.add(permit);
    },
    takeReturned,
    /** Keeps what a reservation that failed did not take along. */
    keep: (permits: readonly string[]) => {
      returned.push(...permits);
    },
    giveBack: (permit: string) => {
      if (!held.delete(permit)) return;
      returned.push(permit);
      // The next reservation takes it along; when none comes in this turn, it goes alone.
      if (returned.length === 1) setImmediate(() => void flush());
    },
    giveBackAll: () => {
      returned.push(...held);
      held.clear();
      return flush();
    },
  };
}
