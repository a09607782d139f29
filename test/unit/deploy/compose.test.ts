import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '../../../src/config/load/load-config.ts';
import { aFolder } from '../../support/a-folder.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const readText = (path: string): string => readFileSync(join(root, path), 'utf8');

const Service = z.object({
  image: z.string(),
  build: z.unknown().optional(),
  profiles: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).optional(),
  secrets: z.array(z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  ports: z.array(z.string()).optional(),
  networks: z.array(z.string()),
  cap_drop: z.array(z.string()),
  security_opt: z.array(z.string()),
  read_only: z.boolean().optional(),
});
const Compose = z.object({
  services: z.record(z.string(), Service),
  networks: z.record(z.string(), z.object({ internal: z.boolean().optional() })),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
});
const compose = Compose.parse(parse(readText('docker-compose.yml')));
const services = Object.entries(compose.services);

describe('the compose file', () => {
  it('starts Redis and the daemon, and the rest by profile', () => {
    const profiles = services.map(([name, { profiles: of = [] }]) => [name, of.join()]);
    expect(Object.fromEntries(profiles)).toEqual({
      redis: '',
      daemon: '',
      service: 'demo',
      caddy: 'tls',
      prometheus: 'monitoring',
      alertmanager: 'monitoring',
      grafana: 'monitoring',
    });
  });

  it.each(services)(
    'gives %s no right that it does not need, and an image by its digest',
    (name, service) => {
      expect(service.cap_drop).toEqual(['ALL']);
      expect(service.security_opt).toEqual(['no-new-privileges:true']);
      // Grafana writes beside its data.
      expect(service.read_only ?? false).toBe(name !== 'grafana');
      if (service.image !== 'upwave') expect(service.image).toMatch(/:[\w.-]+@sha256:[0-9a-f]{64}$/);
    },
  );

  it('keeps Redis where the daemon alone reaches it', () => {
    expect(compose.networks['state']?.internal).toBe(true);
    const inside = services.filter(([, { networks }]) => networks.includes('state'));
    expect(inside.map(([name]) => name)).toEqual(['redis', 'daemon']);
    expect(compose.services['redis']?.ports).toBeUndefined();
  });

  it('passes secrets as files alone, and publishes to this machine alone, but for Caddy', () => {
    for (const [name, { secrets = [], environment = {}, ports = [] }] of services) {
      expect(secrets.filter((secret) => compose.secrets[secret] === undefined)).toEqual([]);
      expect(Object.keys(environment).filter((key) => /KEY|TOKEN|PASSWORD/.test(key))).toEqual([]);
      if (name !== 'caddy') expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    }
  });

  it('mounts files that are there', () => {
    const mounted = services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')[0]));
    const paths = mounted.filter((path) => path?.startsWith('./'));
    expect(paths.length).toBeGreaterThan(3);
    for (const path of paths.filter((each) => /\.\w+$/.test(each ?? '')))
      expect(readText(path ?? '')).not.toBe('');
  });

  it.each(['demo.yaml', 'upwave.yaml'])('has a config that is right: %s', (file) => {
    const folder = aFolder();
    for (const secret of Object.keys(compose.secrets))
      writeFileSync(join(folder, secret), 'a-secret-of-some-length', { mode: 0o600 });
    const text = readText(`deploy/compose/${file}`);
    writeFileSync(join(folder, file), text.replaceAll('/run/secrets', folder));
    const config = loadConfig(join(folder, file), {});
    expect(config.rollouts).toHaveLength(1);
    // What Prometheus scrapes and Caddy asks is where the daemon listens.
    for (const other of ['deploy/prometheus/prometheus.yml', 'deploy/compose/Caddyfile'])
      expect(readText(other)).toContain(`daemon:${config.http.port}`);
  });
});
