import { readFileSync } from 'node:fs';
import { z } from 'zod';

const path = new URL('../../../deploy/grafana/upwave-dashboard.json', import.meta.url);

const Target = z.object({ expr: z.string() });
const Link = z.object({ title: z.string(), url: z.string() });
const Mappings = z.array(
  z.object({ options: z.record(z.string(), z.object({ text: z.string(), color: z.string() })) }),
);
const Panel = z.object({
  id: z.number(),
  type: z.string(),
  title: z.string(),
  description: z.string().optional(),
  gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
  targets: z.array(Target).optional(),
  fieldConfig: z.object({ defaults: z.object({ mappings: Mappings.optional() }) }).optional(),
});
const Row = Panel.extend({ collapsed: z.boolean().optional(), panels: z.array(Panel).optional() });
const Dashboard = z.object({
  uid: z.string(),
  panels: z.array(Row),
  links: z.array(Link),
  annotations: z.object({ list: z.array(Target.extend({ name: z.string() })) }),
  templating: z.object({ list: z.array(z.object({ name: z.string(), query: z.unknown() })) }),
});

export const dashboard = Dashboard.parse(JSON.parse(readFileSync(path, 'utf8')));

/** Rows, and the panels in and below them. */
export const panels = dashboard.panels.flatMap((panel) => [panel, ...(panel.panels ?? [])]);

/** What the dashboard asks Prometheus, and for which panel or annotation. */
export const dashboardQueries = [
  ...panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ where: `panel ${title}`, expr })),
  ),
  ...dashboard.annotations.list.map(({ name, expr }) => ({ where: `annotation ${name}`, expr })),
];

/** Grafana's variables, as Grafana would fill them in with everything chosen. */
export function withoutVariables(query: string, rateInterval = '5m'): string {
  return query
    .replaceAll('$__rate_interval', rateInterval)
    .replaceAll('$policy', '.*')
    .replaceAll('$installation', '.*');
}
