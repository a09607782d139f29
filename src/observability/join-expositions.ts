/**
 * Joins expositions in Prometheus's text format, which requires all series of a metric in one block. A metric in
 * several expositions is described once.
 */
export function joinExpositions(bodies: readonly string[]): string {
  const blocks = new Map<string, { readonly head: readonly string[]; readonly series: string[] }>();
  for (const body of bodies) {
    let series: string[] = [];
    let head: string[] = [];
    for (const line of body.split('\n')) {
      if (line === '') continue;
      const name = /^# HELP (\S+)/.exec(line)?.[1];
      if (name !== undefined) {
        const known = blocks.get(name);
        head = [];
        series = known?.series ?? [];
        if (known === undefined) blocks.set(name, { head, series });
      }
      if (line.startsWith('#')) head.push(line);
      else series.push(line);
    }
  }
  return [...blocks.values()].map(({ head, series }) => `${[...head, ...series].join('\n')}\n`).join('\n');
}
