import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { docsUrl } from '../../../src/docs/docs-paths.ts';
import { loadGuide } from '../../../src/docs/load-guides.ts';
import { rolloutStates, waveStates } from '../../../src/rollout/model/rollout.ts';
import { aFolder } from '../../support/a-folder.ts';
import { dashboard, dashboardQueries, panels, withoutVariables } from '../../support/deploy/dashboard.ts';
import { exposeEverything } from '../../support/exposed-metrics.ts';

const deploy = fileURLToPath(new URL('../../../deploy', import.meta.url));
const dashboardPath = 'grafana/upwave-dashboard.json';
const promtool = spawnSync('promtool', ['--version']).status === 0;

const Alert = z.object({
  alert: z.string(),
  expr: z.string(),
  labels: z.object({ severity: z.enum(['page', 'ticket']) }),
  annotations: z.object({ summary: z.string(), runbook_url: z.string() }),
});
const Recording = z.object({ record: z.string(), expr: z.string() });
const Rules = z.object({ groups: z.array(z.object({ rules: z.array(z.union([Alert, Recording])) })) });

const Stories = z.object({
  tests: z.array(
    z.object({
      alert_rule_test: z.array(z.object({ alertname: z.string(), exp_alerts: z.array(z.unknown()) })),
    }),
  ),
});

const rules = Rules.parse(parse(readText('prometheus/rules.yml'))).groups.flatMap((group) => group.rules);
const alerts = rules.flatMap((rule) => ('alert' in rule ? [rule] : []));
const recordings = rules.flatMap((rule) => ('record' in rule ? [rule] : []));
const alertQueries = alerts.map(({ alert, expr }) => ({ where: `alert ${alert}`, expr }));
const recordedQueries = recordings.map(({ record, expr }) => ({ where: record, expr }));
const queries = [...dashboardQueries, ...alertQueries, ...recordedQueries];

describe('the dashboard and the alert rules', () => {
  let exposed: Exposed;
  beforeAll(async () => {
    exposed = await readExposition();
  });

  it('ask for series that the daemon exposes, by labels and states that they have', () => {
    const wrong = queries.flatMap(({ where, expr }) =>
      mistakesIn(expr, exposed).map((mistake) => `${where}: ${mistake}`),
    );
    expect(dashboardQueries.length).toBeGreaterThan(20);
    expect(alertQueries.length).toBeGreaterThan(10);
    expect(wrong).toEqual([]);
  });

  it.each([
    ['a metric nobody exposes', 'sum(upwave_upgrades_done)', 'no series upwave_upgrades_done'],
    ['a label the metric has not', 'upwave_in_flight{wave="early"}', 'upwave_in_flight has no label wave'],
    ['a grouping by such a label', 'sum by (wave) (upwave_in_flight)', 'no series of it has the label wave'],
    ['a state that does not exist', 'upwave_rollout_state{state=~"held|stopped"}', 'state is never stopped'],
  ])('would be caught asking for %s', (_what, expr, mistake) => {
    expect(mistakesIn(expr, exposed)).toEqual([mistake]);
  });

  it('keep two installations in one Prometheus apart', () => {
    const mixed = queries.flatMap(({ where, expr }) =>
      mixesInstallations(expr) ? [`${where}: ${expr}`] : [],
    );
    expect(mixed).toEqual([]);
    expect(mixesInstallations('sum(upwave_leader) == 0')).toBe(true);
    expect(mixesInstallations('max by (policy) (upwave_in_flight)')).toBe(true);
    expect(mixesInstallations('max by (installation, policy) (upwave_in_flight)')).toBe(false);
  });

  it('let each alert fire in one story, and stay silent in another', () => {
    const { tests } = Stories.parse(parse(readText('prometheus/rules.test.yml')));
    const checks = tests.flatMap((story) => story.alert_rule_test);
    const missing = alerts.flatMap(({ alert }) => {
      const own = checks.filter(({ alertname }) => alertname === alert);
      const fires = own.some(({ exp_alerts }) => exp_alerts.length > 0);
      const isSilent = own.some(({ exp_alerts }) => exp_alerts.length === 0);
      return [...(fires ? [] : [`${alert} never fires`]), ...(isSilent ? [] : [`${alert} is never silent`])];
    });
    expect(missing).toEqual([]);
  });

  it('lead from each alert to its section of the guide, as the daemon serves it', () => {
    const sections = loadGuide({ name: 'alerts', answers: '' }).sections.map(({ anchor }) => anchor);
    const recorded = recordings.map(({ record }) => record);
    for (const { alert, annotations } of alerts) {
      const [, query, anchor] =
        /^\{\{ with printf "([\w:]+)\{.* \}\}(?=\/)(.*)$/.exec(annotations.runbook_url) ?? [];
      expect([alert, anchor]).toEqual([alert, docsUrl('alerts', alert)]);
      expect(recorded).toContain(query);
      expect(sections).toContain(alert);
    }
  });

  it('show every metric that operators were promised', () => {
    const text = queries.map(({ expr }) => expr).join('\n');
    const promised = [...exposed.labelsOf.keys()].filter((name) => /^upwave_(?!.*_(sum|count)$)/.test(name));
    expect(promised.filter((name) => !text.includes(name))).toEqual([]);
  });
});

describe('the dashboard', () => {
  it('gives every panel an id of its own, a place of its own, and each graph a sentence about it', () => {
    const ids = panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    // The panels of a collapsed row lie where the next row is, until it is opened.
    for (const shown of [dashboard.panels, ...dashboard.panels.map((row) => row.panels ?? [])]) {
      const taken = new Map<string, string>();
      for (const { title, gridPos } of shown) {
        for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
          for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
            expect(taken.get(`${x},${y}`) ?? title).toBe(title);
            taken.set(`${x},${y}`, title);
          }
        }
        expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      }
    }
    const silent = panels.filter(({ type, description }) => type !== 'row' && !description);
    expect(silent.map(({ title }) => title)).toEqual([]);
  });

  it.each([
    ['rollout', 'Rollouts', rolloutStates],
    ['wave', 'Waves', waveStates],
  ])('has a word and a colour for every state of a %s', (_what, title, states) => {
    const timeline = panels.find((panel) => panel.title === title && panel.type === 'state-timeline');
    const shown = timeline?.fieldConfig?.defaults.mappings?.[0]?.options ?? {};
    const recording = recordings.find(({ record }) => timeline?.targets?.[0]?.expr.includes(record));
    const codes = [...(recording?.expr ?? '').matchAll(/(?:(\d+) \* )?upwave_\w+\{state="(\w+)"\}/g)];
    const words = codes.map(([, code = '1', state]) => [state, shown[code]?.text.replaceAll(' ', '')]);
    expect(new Set(words.map(([state]) => state))).toEqual(new Set(states));
    expect(words.filter(([state, text]) => state?.toLowerCase() !== text)).toEqual([]);
    if (title === 'Rollouts') expect(shown['10']).toMatchObject({ text: 'held', color: 'red' });
  });

  it('shows the failures of a wave that allows none, which a share of those allowed would drop', () => {
    const shares = dashboardQueries.filter(({ expr }) => /\/.*upwave_gate_failures_allowed/.test(expr));
    expect(shares).toEqual([]);
  });

  it('marks the holds of rollouts, strata and builds on its graphs', () => {
    const marked = dashboard.annotations.list.map(({ expr }) => expr).join('\n');
    for (const hold of ['state="held"', 'event="stratum.held"', 'upwave_build_held'])
      expect(marked).toContain(hold);
  });

  it('leads to the page and to the guide to the alerts', () => {
    expect(dashboard.links.map(({ title }) => title)).toEqual(['Page of upwave', 'Alerts']);
    const variables = dashboard.templating.list.map(({ name }) => `\${${name}}`);
    for (const { url } of dashboard.links) expect(variables.some((name) => url.startsWith(name))).toBe(true);
  });

  it('is in the directory that the compose file provisions', () => {
    const provider = z
      .object({ providers: z.array(z.object({ options: z.object({ path: z.string() }) })) })
      .parse(parse(readText('grafana/provisioning/dashboards/upwave.yaml')));
    const compose = readText('../docker-compose.yml');
    for (const { options } of provider.providers) {
      expect(compose).toContain(`./deploy/${dashboardPath}:${options.path}/upwave-dashboard.json:ro`);
    }
  });
});

describe.skipIf(!promtool)('promtool (skipped where it is not installed)', () => {
  it.each([
    // Syntax only: the file with the token is on the machine that scrapes.
    ['the scrape config', ['check', 'config', '--syntax-only', 'prometheus.yml']],
    ['the rules', ['check', 'rules', 'rules.yml']],
    ['what the alerts say to each story', ['test', 'rules', 'rules.test.yml']],
  ])('approves of %s', (_what, args) => {
    expect(runPromtool(args, join(deploy, 'prometheus'))).toMatchObject({ status: 0 });
  });

  it('approves of the scrape config for Kubernetes', () => {
    // Debian's promtool does not know Kubernetes.
    const text = readText('prometheus/kubernetes.yml').replace(
      /kubernetes_sd_configs:\n(?: {6}.*\n)+/,
      'static_configs: [{ targets: [pod:9464] }]\n',
    );
    expect(text).toContain('static_configs');
    const folder = aFolder();
    writeFileSync(join(folder, 'kubernetes.yml'), text);
    expect(runPromtool(['check', 'config', '--syntax-only', 'kubernetes.yml'], folder)).toMatchObject({
      status: 0,
    });
  });
});

/** What a scrape can bring: by series name its labels, and by label the values seen. */
interface Exposed {
  readonly labelsOf: ReadonlyMap<string, ReadonlySet<string>>;
  readonly valuesOf: ReadonlyMap<string, ReadonlySet<string>>;
}

async function readExposition(): Promise<Exposed> {
  const body = await exposeEverything();
  const labelsOf = new Map<string, Set<string>>();
  const valuesOf = new Map<string, Set<string>>();
  for (const [, name = '', labels = ''] of body.matchAll(/^(\w+)(?:\{(.*)\})? /gm)) {
    for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="([^"]*)"/g)) {
      addTo(labelsOf, name, label);
      addTo(valuesOf, `${name} ${label}`, value);
    }
    // Prometheus itself adds these two.
    for (const label of ['job', 'instance']) addTo(labelsOf, name, label);
  }
  for (const label of ['job', 'instance', 'installation']) addTo(labelsOf, 'up', label);
  // What a recording rule is grouped by is all that its series have.
  for (const { record, expr } of recordings) {
    const [, labels = ''] = /\bby \(([^)]*)\)/.exec(expr) ?? [];
    for (const label of labels.split(', ')) addTo(labelsOf, record, label);
  }
  return { labelsOf, valuesOf };
}

/** Labels whose every value is known beforehand. */
const closedLabels = ['state', 'outcome', 'class', 'reason', 'result', 'alive'];
const operators = ['and', 'or', 'unless', 'by', 'without', 'bool', 'on', 'ignoring', 'group_left', 'offset'];

/** A reading of PromQL that is just good enough: names, selectors and groupings; the rest is promtool's to judge. */
function mistakesIn(query: string, { labelsOf, valuesOf }: Exposed): string[] {
  const mistakes: string[] = [];
  const groupedBy: string[] = [];
  const names = new Set<string>();
  const rest = withoutVariables(query)
    .replaceAll(/\b(?:by|without|on)\s*\(([^)]*)\)/g, (_all, labels: string) => {
      const grouping = labels.split(',').map((label) => label.trim());
      groupedBy.push(...grouping.filter((label) => label !== ''));
      return ' ';
    })
    .replaceAll(/([\w:]+)\{([^}]*)\}/g, (_all, name: string, selectors: string) => {
      for (const [, label = '', operator, value = ''] of selectors.matchAll(
        /(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g,
      )) {
        if (labelsOf.get(name)?.has(label) === false) mistakes.push(`${name} has no label ${label}`);
        if (!closedLabels.includes(label) || operator === '!~') continue;
        const known = valuesOf.get(`${name} ${label}`);
        for (const choice of value.split('|')) {
          if (known?.has(choice) === false) mistakes.push(`${label} is never ${choice}`);
        }
      }
      return ` ${name} `;
    })
    .replaceAll(/"[^"]*"/g, ' ')
    .replaceAll(/\[[^\]]*\]/g, ' ');
  for (const [, name = ''] of rest.matchAll(/\b([a-z_][\w:]*)\b(?!\s*\()/gi)) {
    if (!operators.includes(name)) names.add(name);
  }
  for (const name of names) if (!labelsOf.has(name)) mistakes.push(`no series ${name}`);
  for (const label of groupedBy) {
    const isKnown = [...names].some((name) => labelsOf.get(name)?.has(label) ?? true);
    if (!isKnown) mistakes.push(`no series of it has the label ${label}`);
  }
  return mistakes;
}

/** Whether it adds up series of different installations: each aggregation has to name the label. */
function mixesInstallations(query: string): boolean {
  const aggregations = query.matchAll(/(?<!:)\b(?:sum|min|max|avg|count|group)\b\s*(by\s*\(([^)]*)\))?/g);
  return [...aggregations].some(([, , labels = '']) => !labels.split(/[\s,]+/).includes('installation'));
}

function runPromtool(args: readonly string[], cwd: string): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd, encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

function addTo(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set.add(value));
}

function readText(path: string): string {
  return readFileSync(join(deploy, path), 'utf8');
}
