import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../../src/config/load/load-config.ts';
import { aFolder } from '../../support/a-folder.ts';
import {
  Deployment,
  KubernetesObject,
  Kustomization,
  PrometheusRule,
  ServiceMonitor,
} from './kubernetes-schemas.ts';

const folder = fileURLToPath(new URL('../../../deploy/kubernetes', import.meta.url));
const read = (file: string): unknown => parse(readFileSync(join(folder, file), 'utf8'));
const kustomization = Kustomization.parse(read('kustomization.yaml'));
const deployment = Deployment.parse(read('deployment.yaml'));
const [container] = deployment.spec.template.spec.containers;

describe('deploy/kubernetes', () => {
  it.each(kustomization.resources)('%s has no key and no value that the API does not know', (file) => {
    expect(KubernetesObject.safeParse(read(file)).error).toBeUndefined();
  });

  it('applies every file, and no other', () => {
    const [config] = kustomization.configMapGenerator;
    const files = [...kustomization.resources, ...(config?.files ?? []), 'kustomization.yaml'];
    expect(files.sort()).toEqual(readdirSync(folder).sort());
  });

  it('names volumes, ports, labels and secrets that are there', () => {
    const { template, selector } = deployment.spec;
    const volumes = template.spec.volumes.map(({ name }) => name);
    expect(container.volumeMounts.map(({ name }) => name)).toEqual(volumes);
    expect(selector.matchLabels).toEqual(template.metadata.labels);
    expect(container.ports.map(({ name }) => name)).toEqual(['http']);
    const monitor = ServiceMonitor.parse(read('servicemonitor.yaml'));
    const secret = template.spec.volumes.flatMap((volume) => volume.secret?.secretName ?? []);
    expect(secret).toEqual(monitor.spec.endpoints.map(({ authorization }) => authorization.credentials.name));
    const configMap = template.spec.volumes.flatMap((volume) => volume.configMap?.name ?? []);
    expect(configMap).toEqual(kustomization.configMapGenerator.map(({ name }) => name));
  });

  it('alerts on what deploy/prometheus alerts on', () => {
    const rules = readFileSync(join(folder, '../prometheus/rules.yml'), 'utf8');
    expect(PrometheusRule.parse(read('prometheusrule.yaml')).spec).toEqual(parse(rules));
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
    expect(config.http.port).toBe(container.ports[0]?.containerPort);
    expect(config.http.token).toBeDefined();
  });
});
