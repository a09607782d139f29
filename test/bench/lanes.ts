/** Runs tasks in order, so many at once; the results stand in the order of the tasks. */
export async function runInLanes<T>(
  tasks: ReadonlyArray<() => Promise<T>>,
  lanes: number,
): Promise<readonly T[]> {
  const results: T[] = [];
  const waiting = [...tasks.entries()];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, task] = next;
      results[index] = await task();
    }
  };
  await Promise.all(Array.from({ length: lanes }, work));
  return results;
}
