/** The CPU time of the work, in milliseconds. Unlike elapsed time it does not grow on a busy machine. */
export function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
