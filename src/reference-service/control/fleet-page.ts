import { countEach } from '../../base/grouping.ts';
import { escapeHtml } from '../../base/safe-text.ts';
import { collectorView } from '../fleet/views.ts';
import type { World } from '../fleet/world.ts';

const collectorsShownMax = 500;

const style = `:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}body{margin:2rem auto;max-width:70rem;padding:0 1rem}
table{border-collapse:collapse;width:100%;margin:1rem 0}th,td{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #8884;font-variant-numeric:tabular-nums}
.quiet{opacity:.75}`;

/** A page without scripts that shows the fleet of an account: its builds, and its first collectors. It reloads itself. */
export function fleetPage(world: World, { speed }: { readonly speed: number }): string {
  const now = world.now();
  const collectors = world.collectors().map((collector) => collectorView(collector, now));
  const running = countEach(collectors.map(({ collectorVersion }) => String(collectorVersion)));
  const offered = new Set(world.builds.offered(now));
  const latest = world.builds.latest(now);
  const builds = [...new Set([...world.builds.versions, ...running.keys()])].map((version) => [
    version === '' ? 'none' : version,
    version === latest ? 'latest' : offered.has(version) ? 'offered' : '',
    String(running.get(version) ?? 0),
  ]);
  const rows = collectors
    .slice(0, collectorsShownMax)
    .map(({ id, name, osName, collectorVersion, alive, ephemeral }) => [
      ...[String(id), String(name), String(osName ?? 'hosted'), String(collectorVersion)],
      world.isInUpgrade(Number(id)) ? 'in upgrade' : alive === true ? 'alive' : 'not alive',
      ephemeral === true ? 'ephemeral' : '',
    ]);
  const inUpgrade = collectors.filter(({ id }) => world.isInUpgrade(Number(id))).length;
  const more = collectors.length - rows.length;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="5">
<meta name="viewport" content="width=device-width"><title>Reference service</title><style>${style}</style></head><body>
<h1>Reference service</h1>
<p>${collectors.length} collectors, ${inUpgrade} in upgrade, ${collectors.filter(({ alive }) => alive === true).length} alive.
<span class="quiet">Its time is ${new Date(now).toISOString()}, ${speed} times as fast as real time.</span></p>
<h2>Builds</h2>${table(['build', 'offer', 'collectors that run it'], builds)}
<h2>Collectors</h2>${table(['id', 'name', 'operating system', 'build', 'state', ''], rows)}
${more > 0 ? `<p class="quiet">${more} more.</p>` : ''}
</body></html>`;
}

function table(heads: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const line = (tag: 'th' | 'td', cells: readonly string[]) =>
    `<tr>${cells.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join('')}</tr>`;
  return `<table>${line('th', heads)}${rows.map((row) => line('td', row)).join('')}</table>`;
}
