import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '../../src/config/load/load-config.ts';
import { aFolder } from '../support/a-folder.ts';
import { textOf } from './documents.ts';

const guide = textOf('src/docs/guides/install-on-kubernetes.md');
const blocks = [...guide.matchAll(/^( *)```(\w*)\n([\s\S]*?)^\1```$/gm)].map(
  ([, , language = '', text = '']) => ({
    language,
    text,
  }),
);
const commands = blocks.filter(
  ({ language, text }) => language === '' && /kubectl|secrets\/|upwave/.test(text),
);
const config = textOf('deploy/kubernetes/upwave.yaml');
const mount = '/etc/upwave-secrets';

/** Names of the files in `secrets` that the commands write. */
function writtenSecrets(): string[] {
  const text = commands.map((command) => command.text).join('\n');
  const looped = [...text.matchAll(/for name in ([\w -]+); do .*> secrets\/\$name/g)];
  return [
    ...[...text.matchAll(/> secrets\/([\w-]+)/g)].map(([, name = '']) => name),
    ...looped.flatMap(([, names = '']) => names.split(' ')),
  ].sort();
}

const namedIn = (text: string): string[] =>
  [...text.matchAll(new RegExp(`${mount}/([\\w-]+)`, 'g'))].map(([, name = '']) => name).sort();

describe('the guide to Kubernetes', () => {
  it('writes each secret that the config names, and no other', () => {
    const accounts = blocks.find(({ language }) => language === 'yaml')?.text ?? '';
    expect(namedIn(accounts)).toHaveLength(4);
    expect(writtenSecrets()).toEqual([...namedIn(config), ...namedIn(accounts)].sort());
    const [, table = ''] = /\| file \| what it is \|\n([\s\S]*?)\n\n/.exec(guide) ?? [];
    expect(
      [...table.matchAll(/^ *\| (.*?) \|/gm)].flatMap(([, cell = '']) => cell.match(/[\w-]{5,}/g) ?? []),
    ).toEqual(expect.arrayContaining(namedIn(config)));
  });

  it('has a config of several accounts that is right', () => {
    const folder = aFolder();
    for (const name of writtenSecrets())
      writeFileSync(join(folder, name), 'a-secret-of-some-length', { mode: 0o600 });
    const accounts = blocks.find(({ language }) => language === 'yaml')?.text ?? '';
    const several = config
      .replace(/^service:\n(?: .*\n)+/m, accounts)
      .replace('name: production', 'name: production\n    accounts: [eu, us]')
      .replaceAll(mount, folder);
    writeFileSync(join(folder, 'upwave.yaml'), several);
    const loaded = loadConfig(join(folder, 'upwave.yaml'), {});
    expect(loaded.rollouts.map(({ name }) => name)).toEqual(['production-eu', 'production-us']);
  });

  it('names only files, objects and paths that are there', () => {
    const text = commands.map((command) => command.text).join('\n');
    const files = [...text.matchAll(/upwave-kubernetes\/([\w./-]+)/g)].map(
      ([, path]) => `deploy/kubernetes/${path}`,
    );
    const ofPackage = [...text.matchAll(/\$\(npm root --global\)\/upwave\/([\w./-]+)/g)].map(
      ([, path = '']) => path,
    );
    expect(files.length).toBeGreaterThan(1);
    expect(ofPackage).toEqual(['deploy/kubernetes', 'deploy/prometheus/rules.yml']);
    expect(
      [...files, ...ofPackage].filter((path) => !existsSync(new URL(`../../${path}`, import.meta.url))),
    ).toEqual([]);
    const objects = text.matchAll(/ (deployment\/|service\/|secret generic |configmap )([\w-]+)/g);
    expect([...new Set([...objects].map(([, kind, name]) => `${kind}${name}`))].sort()).toEqual([
      ...[
        'configmap upwave-rules',
        'deployment/upwave',
        'secret generic upwave',
        'secret generic upwave-metrics',
      ],
      'service/redis',
    ]);
  });

  it('runs commands with the program and the config that the Pod has', () => {
    const { spec } = z
      .object({
        spec: z.object({
          template: z.object({
            spec: z.object({ containers: z.tuple([z.object({ args: z.array(z.string()) })]) }),
          }),
        }),
      })
      .parse(parse(textOf('deploy/kubernetes/deployment.yaml')));
    const [{ args }] = spec.template.spec.containers;
    const [, ran] = /-- node (dist\/\S+ --config \S+) "\$@"/.exec(guide) ?? [];
    expect(args).toEqual(['run', '--config', '/etc/upwave/upwave.yaml']);
    expect(ran).toBe('dist/main.js --config /etc/upwave/upwave.yaml');
    const image = textOf('deploy/Dockerfile');
    expect(image).toMatch(/^WORKDIR \/app$/m);
    expect(image).toContain('"/app/dist/main.js"');
  });

  it('scrapes what the Deployment serves, with the token that its commands create', () => {
    const scrape = z
      .object({
        rule_files: z.tuple([z.string()]),
        scrape_configs: z.tuple([
          z.object({
            job_name: z.literal('upwave'),
            authorization: z.object({ credentials_file: z.string() }),
            kubernetes_sd_configs: z.tuple([
              z.object({
                role: z.literal('pod'),
                namespaces: z.object({ names: z.tuple([z.literal('upwave')]) }),
              }),
            ]),
            relabel_configs: z.array(
              z.object({ regex: z.string().optional(), source_labels: z.array(z.string()) }),
            ),
          }),
        ]),
      })
      .parse(parse(textOf('deploy/prometheus/kubernetes.yml')));
    const [job] = scrape.scrape_configs;
    expect(job.relabel_configs[0]).toMatchObject({
      source_labels: [
        '__meta_kubernetes_pod_label_app_kubernetes_io_name',
        '__meta_kubernetes_pod_container_port_name',
      ],
      regex: 'upwave;http',
    });
    const [, secretMount, rulesMount] =
      /secret at `([^`]+)` and the ConfigMap at `([^`]+)`/.exec(guide) ?? [];
    expect([job.authorization.credentials_file, scrape.rule_files[0]]).toEqual([
      `${secretMount}/metrics-token`,
      `${rulesMount}/rules.yml`,
    ]);
  });

  it('shows the ports and namespaces that the NetworkPolicy allows', () => {
    const policy = textOf('deploy/kubernetes/networkpolicy.yaml');
    const [, network = ''] = /\n## Network\n([\s\S]*?)\n## /.exec(guide) ?? [];
    const allowed = [...network.matchAll(/^\| [^|]+ \| ([^|]*) \|/gm)]
      .map(([, cell = '']) => cell)
      .join('\n');
    const named = [...allowed.matchAll(/`([\w-]+)`|\b(\d+)\b/g)].map(([, name, port]) => name ?? port ?? '');
    expect(named.length).toBeGreaterThan(7);
    const used = [
      ...policy.replaceAll(/#.*/g, '').matchAll(/metadata\.name: ([\w-]+)|values: \[(.*)\]|port: (\d+)/g),
    ];
    const inPolicy = used.flatMap(([, name, values, port]) => name ?? values?.split(', ') ?? port ?? []);
    expect([...new Set(named)].sort()).toEqual([...new Set(inPolicy)].sort());
  });
});

const shell = spawnSync('sh', ['-c', 'true']).status === 0;

describe.skipIf(!shell)('the commands of the guide (skipped where there is no sh)', () => {
  it('have the syntax of the shell', () => {
    expect(commands.length).toBeGreaterThan(8);
    for (const { text } of commands.filter((command) => !/^ *(?:production|all|up)\b/m.test(command.text)))
      expect(spawnSync('sh', ['-n', '-c', text], { encoding: 'utf8' })).toMatchObject({
        status: 0,
        stderr: '',
      });
  });
});
