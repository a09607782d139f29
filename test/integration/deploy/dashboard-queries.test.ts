import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import { findOnPath } from '../../../src/redis/embedded/start-embedded-redis.ts';
import { aFolder } from '../../support/a-folder.ts';
import { dashboardQueries, withoutVariables } from '../../support/deploy/dashboard.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import { applyAsShown } from '../../support/night/as-shown.ts';
import {
  type AtEnd,
  aDaemonNight,
  nightPolicy,
  scan,
  untilEnded,
  untilWave,
} from '../../support/night/daemon-night.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();
const prometheus = await findOnPath('prometheus');
const rules = fileURLToPath(new URL('../../../deploy/prometheus/rules.yml', import.meta.url));

/** Panels and annotations that have no data in a rollout without failures. What a build did is recorded a minute after its end. */
const mayBeEmpty = [
  'annotation Held',
  'annotation Strata held',
  'annotation Builds held',
  'annotation Config read',
  'panel Answers other than success',
  'panel Collectors that are not alive',
  'panel Redis reached',
  'panel What builds did',
];

const Answer = z.object({
  status: z.literal('success'),
  data: z.object({
    result: z.array(z.object({ values: z.array(z.tuple([z.number(), z.string()])) })),
  }),
});

describe.skipIf(prometheus === undefined)('the dashboard (skipped where Prometheus is not installed)', () => {
  it('shows a real rollout in a real Prometheus: each query is answered, and has data', async () => {
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}`;
    // Prometheus answers a gate as well, and a freeze in a month makes a window that closes.
    const gate = { prometheus: { url, query: 'vector(1)', expect: '>= 1', every: '1s' }, name: 'errors' };
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    const night = await aDaemonNight(
      {
        redis: redis.config(),
        rollout: {
          freezes: [{ from: inDays(30), to: inDays(40), reason: 'holidays' }],
          waves: [
            { name: 'canary', size: 4, soak: '1s', maxFailures: 1, gates: [gate] },
            { name: 'rest', maxFailures: '20%' },
          ],
        },
      },
      onTestFinished,
    );
    const daemon = await night.startDaemon();
    const beganAt = Date.now();
    await startPrometheus({ port, target: new URL(daemon.url).host }, onTestFinished);
    const ask = (query: string) => askPrometheus(url, query, beganAt);
    await until('a first scrape', async () => (await ask('up{job="upwave"} == 1')).length > 0);

    const rolloutId = await scan(daemon);
    await untilWave(daemon, rolloutId, { index: 1, state: 'open' });
    const verb = { rolloutId, by: 'alice', reason: 'a look' };
    await applyAsShown(daemon.operations, { ...verb, verb: 'pause' });
    await until(
      'the pause to be scraped',
      async () => (await ask('upwave_rollout_state{state="paused"} == 1')).length > 0,
    );
    await applyAsShown(daemon.operations, { ...verb, verb: 'resume' });
    await untilEnded(daemon, rolloutId);
    const over = `installation_policy:upwave_rollout_state:code{policy="${nightPolicy}"} == 1`;
    await until('the end to be recorded', async () => (await ask(over)).length > 0);

    const empty: string[] = [];
    for (const { where, expr } of dashboardQueries) {
      const values = await ask(withoutVariables(expr, '5s'));
      if (values.length === 0 && !mayBeEmpty.includes(where)) empty.push(`${where}: ${expr}`);
    }
    expect(empty).toEqual([]);
  });
});

/** Every finite value of a query since then. @throws when Prometheus does not take the query */
async function askPrometheus(url: string, query: string, since: number): Promise<readonly number[]> {
  const range = { start: String(since / 1_000), end: String(Date.now() / 1_000), step: '0.25' };
  const asked = new URLSearchParams({ query, ...range });
  const answer = await fetch(`${url}/api/v1/query_range?${asked.toString()}`).catch(() => undefined);
  // It is still starting.
  if (answer === undefined || answer.status === 503) return [];
  const { data } = Answer.parse(await answer.json(), { error: () => `not answered: ${query}` });
  return data.result
    .flatMap(({ values }) => values.map(([, value]) => Number(value)))
    .filter(Number.isFinite);
}

/** With the rules of the project; scrapes and evaluates several times a second. */
async function startPrometheus(
  { port, target }: { readonly port: number; readonly target: string },
  atEnd: AtEnd,
): Promise<void> {
  const folder = aFolder(atEnd);
  await cp(rules, join(folder, 'rules.yml'));
  const config = {
    global: { scrape_interval: '250ms', scrape_timeout: '250ms', evaluation_interval: '250ms' },
    rule_files: ['rules.yml'],
    scrape_configs: [{ job_name: 'upwave', static_configs: [{ targets: [target] }] }],
  };
  await writeFile(join(folder, 'prometheus.yml'), stringify(config));
  const child = spawn(
    prometheus ?? '',
    [
      ...[`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`],
      ...[`--web.listen-address=127.0.0.1:${port}`, '--log.level=error'],
    ],
    { stdio: 'ignore' },
  );
  atEnd(async () => {
    child.kill();
    await once(child, 'exit');
  });
}
