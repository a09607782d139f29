/** How much of a CPU the work takes: a machine that has other work to do makes it no slower, as it does by a clock. */
export function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
