import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { findFreePort } from '../../support/network/free-port.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/network/scripted-server.ts';
import { until } from '../../support/until.ts';

const prometheusFolder = fileURLToPath(new URL('../../../deploy/prometheus', import.meta.url));
const config = readFileSync(join(prometheusFolder, 'alertmanager.yml'), 'utf8');
const rules = readFileSync(join(prometheusFolder, 'rules.yml'), 'utf8');
// Debian gives it another name.
const alertmanager = ['prometheus-alertmanager', 'alertmanager'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
);

const Inhibitions = z.object({
  inhibit_rules: z.array(
    z.object({ source_matchers: z.array(z.string()), target_matchers: z.array(z.string()) }),
  ),
});
const Message = z.object({ alerts: z.array(z.object({ labels: z.record(z.string(), z.string()) })) });
const KnownAlerts = z.array(
  z.object({ labels: z.record(z.string(), z.string()), status: z.object({ state: z.string() }) }),
);

describe('the example for Alertmanager', () => {
  it('names alerts that exist', () => {
    const { inhibit_rules } = Inhibitions.parse(parse(config));
    const matchers = inhibit_rules.flatMap((rule) => [...rule.source_matchers, ...rule.target_matchers]);
    const named = matchers.flatMap((matcher) => namesIn(/"(.+)"/.exec(matcher)?.[1] ?? ''));
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((name) => !rules.includes(`alert: ${name}\n`))).toEqual([]);
  });
});

describe.skipIf(alertmanager === undefined)('Alertmanager (skipped where it is not installed)', () => {
  let receiver: ScriptedServer;
  let child: ChildProcess;
  let folder: string;
  let url: string;

  beforeAll(async () => {
    receiver = await startScriptedServer();
    folder = mkdtempSync(join(tmpdir(), 'upwave-alertmanager-'));
    const here = config
      .replaceAll('127.0.0.1:9095', `127.0.0.1:${receiver.port}`)
      .replace('group_wait: 30s', 'group_wait: 200ms');
    writeFileSync(join(folder, 'alertmanager.yml'), here);
    const port = await findFreePort();
    url = `http://127.0.0.1:${port}/api/v2/alerts`;
    child = spawn(
      alertmanager ?? '',
      [
        ...[`--config.file=${folder}/alertmanager.yml`, `--storage.path=${folder}/data`],
        ...[`--web.listen-address=127.0.0.1:${port}`, '--cluster.listen-address='],
      ],
      { stdio: 'ignore' },
    );
    await until('Alertmanager', () => fetch(url).catch(() => undefined));
  });

  afterAll(async () => {
    child.kill();
    await once(child, 'exit');
    await receiver.close();
    rmSync(folder, { recursive: true });
  });

  it('sends one page for a bad build that two policies roll out, and does not inhibit other alerts', async () => {
    const alerts = [
      { alertname: 'UpwaveRolloutHeld', severity: 'page', policy: 'one' },
      { alertname: 'UpwaveRolloutHeld', severity: 'page', policy: 'two' },
      { alertname: 'UpwaveBuildHeld', severity: 'page', policy: 'one' },
      { alertname: 'UpwaveBuildHeld', severity: 'page', policy: 'well' },
      { alertname: 'UpwaveCollectorsUnconfirmed', severity: 'page', policy: 'one' },
      { alertname: 'UpwaveStratumHeld', severity: 'ticket', policy: 'two' },
      { alertname: 'UpwaveGateNearlyTripped', severity: 'ticket', policy: 'one', wave: 'canary' },
      { alertname: 'UpwaveUpgradesFail', severity: 'ticket', policy: 'one' },
      { alertname: 'UpwaveUpgradesFail', severity: 'ticket', policy: 'well' },
    ].map((labels) => ({ labels: { ...labels, installation: 'eu' } }));
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(alerts),
    });
    expect(answer.status).toBe(200);
    await until('both messages', () => receiver.requests.length >= 2);
    const known = KnownAlerts.parse(await (await fetch(url)).json());
    const active = known
      .filter(({ status }) => status.state === 'active')
      .map(({ labels }) => nameOf(labels));
    expect(active.sort()).toEqual(['RolloutHeld one', 'RolloutHeld two', 'UpgradesFail well']);
    expect(receiver.requests).toHaveLength(2);
    const namesAt = (place: string) =>
      receiver.requests
        .filter(({ path }) => path === place)
        .flatMap(({ text }) => Message.parse(JSON.parse(text)).alerts)
        .map(({ labels }) => nameOf(labels))
        .sort();
    expect(namesAt('/page')).toEqual(['RolloutHeld one', 'RolloutHeld two']);
    expect(namesAt('/ticket')).toEqual(['UpgradesFail well']);
  });
});

/** `Upwave(A|B)` names two. */
function namesIn(pattern: string): string[] {
  const [, before = '', choices = ''] = /^(\w+)\((.+)\)$/.exec(pattern) ?? ['', pattern, ''];
  return choices.split('|').map((choice) => before + choice);
}

function nameOf(labels: Readonly<Record<string, string>>): string {
  return `${labels['alertname']?.replace('Upwave', '')} ${labels['policy']}`;
}
