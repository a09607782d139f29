import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '../../src/config/load/load-config.ts';
import { aFolder } from '../support/a-folder.ts';
import { textOf } from './documents.ts';
import { unknownKeys } from './kubernetes-keys.ts';

const folder = fileURLToPath(new URL('../../deploy/kubernetes', import.meta.url));
const read = (file: string): Record<string, unknown> => parse(readFileSync(join(folder, file), 'utf8'));
const Named = z.object({ name: z.string() });
const Volume = Named.extend({
  configMap: Named.optional(),
  secret: z.object({ secretName: z.string() }).optional(),
});
const Container = z.object({
  ports: z.tuple([Named.extend({ containerPort: z.int() })]),
  volumeMounts: z.array(Named.extend({ mountPath: z.string(), readOnly: z.literal(true) })),
});
const Resources = z.object({ resources: z.array(z.string()) });
const Kustomization = Resources.extend({
  configMapGenerator: z.tuple([Named.extend({ files: z.array(z.string()) })]),
});
const Labels = z.record(z.string(), z.string());
const Pod = z.object({ containers: z.tuple([Container]), volumes: z.array(Volume) });
const Deployment = z.object({
  spec: z.object({
    selector: z.object({ matchLabels: Labels }),
    template: z.object({ metadata: z.object({ labels: Labels }), spec: Pod }),
  }),
});
const kustomization = Kustomization.parse(read('kustomization.yaml'));
const operator = 'prometheus-operator';
const ofOperator = Resources.parse(read(`${operator}/kustomization.yaml`)).resources;
const Policy = z.object({
  spec: z.object({
    egress: z.array(
      z.object({
        to: z.array(z.object({ namespaceSelector: z.object({ matchLabels: Labels.optional() }) })).optional(),
        ports: z.array(z.object({ protocol: z.string(), port: z.int() })).optional(),
      }),
    ),
  }),
});
const kubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
const { selector, template } = Deployment.parse(read('deployment.yaml')).spec;
const {
  containers: [container],
  volumes,
} = template.spec;

describe('deploy/kubernetes', () => {
  it.each([
    ...[...kustomization.resources, 'kustomization.yaml'],
    ...[...ofOperator, 'kustomization.yaml'].map((file) => `${operator}/${file}`),
  ])('%s has no key that the API does not know', (file) => {
    expect(unknownKeys(read(file))).toEqual([]);
  });

  it('has no right that it does not need, and probes that the daemon answers', () => {
    const probe = (path: string) => ({ httpGet: { path, port: 'http' } });
    expect(read('deployment.yaml')['spec']).toMatchObject({
      template: {
        spec: {
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              securityContext: {
                ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
                capabilities: { drop: ['ALL'] },
              },
              ...{ startupProbe: probe('/healthz'), livenessProbe: probe('/healthz') },
              readinessProbe: probe('/readyz'),
            },
          ],
        },
      },
    });
    expect(read('serviceaccount.yaml')).toMatchObject({ automountServiceAccountToken: false });
  });

  it('applies every file, and no other', () => {
    const [config] = kustomization.configMapGenerator;
    const files = [...kustomization.resources, ...config.files, 'kustomization.yaml', operator];
    expect(files.sort()).toEqual(readdirSync(folder).sort());
    expect([...ofOperator, 'kustomization.yaml'].sort()).toEqual(readdirSync(join(folder, operator)).sort());
  });

  it('needs the Prometheus Operator only in the folder of that name', () => {
    const versions = (files: readonly string[]) => files.map((file) => read(file)['apiVersion']);
    expect(versions(kustomization.resources).filter((version) => /monitoring/.test(String(version)))).toEqual(
      [],
    );
    expect(versions(ofOperator.map((file) => `${operator}/${file}`))).toEqual(
      ofOperator.map(() => 'monitoring.coreos.com/v1'),
    );
  });

  it.skipIf(!kubectl).each([
    [
      '.',
      [
        'Namespace',
        'ServiceAccount',
        'ConfigMap',
        'Service',
        'Deployment',
        'PodDisruptionBudget',
        'NetworkPolicy',
      ],
    ],
    [operator, ['PrometheusRule', 'ServiceMonitor']],
  ])('is accepted by kubectl kustomize: %s (skipped where kubectl is not installed)', (below, kinds) => {
    const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', join(folder, below)], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
    const objects = parseAllDocuments(stdout).map((document): unknown => document.toJS());
    const Named = z.object({ kind: z.string(), metadata: z.object({ namespace: z.string().optional() }) });
    const found = objects.map((object) => Named.parse(object));
    expect(found.map(({ kind }) => kind).sort()).toEqual([...kinds].sort());
    expect(
      found.filter(({ kind, metadata }) => kind !== 'Namespace' && metadata.namespace !== 'upwave'),
    ).toEqual([]);
  });

  it('allows connections to the Redis of the config, to the service, and to a mail server', () => {
    const { egress } = Policy.parse(read('networkpolicy.yaml')).spec;
    const allowed = egress.flatMap(({ to = [], ports = [] }) => {
      const namespaces = to.map(({ namespaceSelector }) =>
        Object.values(namespaceSelector.matchLabels ?? {}).join(),
      );
      return ports.map(({ port, protocol }) => `${namespaces.join() || 'everywhere'} ${protocol} ${port}`);
    });
    const text = readFileSync(join(folder, 'upwave.yaml'), 'utf8');
    const [, namespace, port] = /redis:\/\/upwave@\w+\.(\w+)\.svc:(\d+)/.exec(text) ?? [];
    expect(allowed).toEqual([
      ...['kube-system UDP 53', 'kube-system TCP 53', `${namespace} TCP ${port}`],
      ...['everywhere TCP 443', 'everywhere TCP 465', 'everywhere TCP 587'],
    ]);
    // A rule without ports allows all ports: gates in the cluster may have any.
    expect(egress.filter(({ ports, to }) => ports === undefined && to !== undefined)).toHaveLength(1);
    expect(egress.filter(({ ports, to }) => ports === undefined && to === undefined)).toEqual([]);
  });

  it('names volumes, ports, labels and secrets that are there', () => {
    expect(container.volumeMounts.map(({ name }) => name)).toEqual(volumes.map(({ name }) => name));
    expect(selector.matchLabels).toEqual(template.metadata.labels);
    expect(container.ports.map(({ name }) => name)).toEqual(['http']);
    const [name] = volumes.flatMap((volume) => volume.secret?.secretName ?? []);
    expect(read(`${operator}/servicemonitor.yaml`)['spec']).toMatchObject({
      selector,
      endpoints: [
        { port: 'http', authorization: { type: 'Bearer', credentials: { name, key: 'metrics-token' } } },
      ],
    });
    const configMap = volumes.flatMap((volume) => volume.configMap?.name ?? []);
    expect(configMap).toEqual(kustomization.configMapGenerator.map(({ name: generated }) => generated));
  });

  it('suggests only variables that the help lists, in a line that is right without its mark', () => {
    const text = readFileSync(join(folder, 'deployment.yaml'), 'utf8');
    const Env = z.object({ env: z.array(Named.extend({ value: z.string() })) });
    const suggested = /# (env: .*)/.exec(text)?.[1] ?? '';
    const names = Env.parse(parse(suggested)).env.map(({ name }) => name);
    expect(names.length).toBeGreaterThan(0);
    const help = textOf('src/cli/shell/program-help.ts');
    expect(names.filter((name) => !help.includes(name))).toEqual([]);
  });

  it('alerts on what deploy/prometheus alerts on', () => {
    const rules = readFileSync(join(folder, '../prometheus/rules.yml'), 'utf8');
    expect(read(`${operator}/prometheusrule.yaml`)['spec']).toEqual(parse(rules));
  });

  it('has a config that is right, with its secrets in the files of the mounted secret', () => {
    const secrets = aFolder();
    const text = readFileSync(join(folder, 'upwave.yaml'), 'utf8');
    const mount = container.volumeMounts.find(({ name }) => name === 'secrets')?.mountPath ?? '';
    const files = [...text.matchAll(/File: (\S+)/g)].map(([, path = '']) => path);
    expect(files.map((path) => path.slice(0, path.lastIndexOf('/')))).toEqual(files.map(() => mount));
    for (const path of files)
      writeFileSync(join(secrets, basename(path)), 'a-secret-of-some-length', { mode: 0o600 });
    writeFileSync(join(secrets, 'upwave.yaml'), text.replaceAll(mount, secrets));
    const config = loadConfig(join(secrets, 'upwave.yaml'), {});
    expect(config.http.port).toBe(container.ports[0].containerPort);
    expect(config.http.token).toBeDefined();
    // Prometheus gets a token that reads only the metrics.
    expect(config.http.tokens).toMatchObject([{ name: 'prometheus', role: 'metrics' }]);
    expect(text).toContain(`role: metrics, tokenFile: ${mount}/metrics-token`);
  });
});
