const everyMs = 10;

/**
 * Counts how long this process was kept from running: what a test measures with the clock of the wall, on a machine
 * that has other work to do, was longer by that.
 * @returns ends the count, and gives it in milliseconds
 */
export function countStalls(): () => number {
  let stalledMs = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    stalledMs += Math.max(0, now - last - 2 * everyMs);
    last = now;
  }, everyMs);
  return () => {
    clearInterval(timer);
    return stalledMs;
  };
}
