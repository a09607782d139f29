/** More than a handful of builds does not fit a status line. */
export const fromBuildsMax = 5;

/** More old builds than a service offers at a time. */
export const backToMax = 50;

/** The most frequent of these builds, at most `max`; the same for the same builds in whatever order they come. */
export function frequentBuilds(builds: readonly string[], max: number): readonly string[] {
  return countBuilds(builds)
    .slice(0, max)
    .map(({ build }) => build);
}

/** How often each build occurs, the most frequent first. */
export function countBuilds(
  builds: readonly string[],
): ReadonlyArray<{ readonly build: string; readonly count: number }> {
  const counts = new Map<string, number>();
  for (const build of builds) counts.set(build, (counts.get(build) ?? 0) + 1);
  return [...counts]
    .map(([build, count]) => ({ build, count }))
    .sort((a, b) => b.count - a.count || (a.build < b.build ? -1 : 1));
}
