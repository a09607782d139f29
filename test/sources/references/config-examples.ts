import { parse, stringify } from 'yaml';
import { textOf } from '../documents.ts';

/** Configs of the package from which examples are taken, the first that has a key. */
const files = ['production', 'data-flow', 'accounts', 'minimal', 'demo'];

const url = 'https://api.example.com/api';
const byFiles = { baseUrl: url, accessIdFile: 'access-id', accessKeyFile: 'access-key' };

/** Configs with the keys that the files lack: keys that replace each other cannot be in one. A test checks each. */
export const moreExamples: readonly object[] = [
  {
    service: { ...byFiles, caFile: 'company-ca.pem' },
    redis: {
      sentinels: ['sentinel-1:26379', 'sentinel-2:26379', 'sentinel-3:26379'],
      name: 'mymaster',
      username: 'upwave',
      password: `\${REDIS_PASSWORD}`,
      tls: true,
      caFile: 'company-ca.pem',
    },
    http: {
      token: `\${UPWAVE_TOKEN}`,
      publicUrl: 'https://upwave.example.com',
      docs: 'public',
      tokens: [{ name: 'ann', role: 'operator', token: `\${UPWAVE_TOKEN_OF_ANN}` }],
      trustedProxy: { addresses: ['10.0.0.0/8'], userHeader: 'x-forwarded-user', role: 'viewer' },
    },
    notify: [
      { slack: { url: `\${SLACK_URL}` } },
      {
        slack: {
          ...{ token: `\${SLACK_TOKEN}`, channel: 'C0123456789' },
          apiUrl: 'https://slack.example.com/api',
        },
      },
      { teams: { url: `\${TEAMS_URL}` } },
      { pagerDuty: { routingKey: `\${PAGERDUTY_ROUTING_KEY}`, url: 'https://events.eu.pagerduty.com' } },
      {
        email: {
          ...{ host: 'smtp.example.com', port: 465, tls: 'implicit', username: 'upwave' },
          ...{ password: `\${SMTP_PASSWORD}`, from: 'upwave@example.com', to: ['ops@example.com'] },
        },
      },
      { webhook: { url: `\${UPWAVE_WEBHOOK_URL}`, secret: `\${UPWAVE_WEBHOOK_SECRET}` } },
    ],
    report: { directory: 'reports', formats: ['html'] },
    rollouts: [
      {
        name: 'production',
        select: {
          include: {
            name: ['web-*', '/^api-\\d+$/'],
            hostName: '*.eu.example.com',
            osName: ['Linux', 'Windows*'],
            osArch: 'amd64',
            id: [100000001, 100000002],
            fields: { environment: 'prod' },
          },
        },
        waves: [
          { name: 'canary', size: '1 per stratum', soak: '30m', dataFlow: 'required' },
          {
            name: 'early',
            size: '10%',
            soak: '30m',
            gates: [
              {
                name: 'errors',
                search: {
                  query: '_sourceCategory=prod/* error | count',
                  expect: '< 100',
                  from: '10m',
                  every: '1m',
                },
              },
              { dataFlow: { every: '1m' } },
              {
                prometheus: {
                  urlFile: 'prometheus-url',
                  query: 'up',
                  expect: '== 1',
                  caFile: 'company-ca.pem',
                },
              },
              { webhook: { urlFile: 'board-url', tokenFile: 'board-token', caFile: 'company-ca.pem' } },
            ],
          },
          { name: 'rest' },
        ],
      },
    ],
  },
  {
    accounts: { eu: { ...byFiles, keyPrefix: 'upwave' } },
    redis: { cluster: ['redis-1:6379', 'redis-2:6379', 'redis-3:6379'], passwordFile: 'redis-password' },
    http: { tokenFile: 'token', tokens: [{ name: 'ci', role: 'viewer', tokenFile: 'ci-token' }] },
    notify: [
      { slack: { urlFile: 'slack-url' } },
      { slack: { tokenFile: 'slack-token', channel: 'C0123456789' } },
      { teams: { urlFile: 'teams-url' } },
      { pagerDuty: { routingKeyFile: 'routing-key' } },
      {
        email: {
          ...{ host: 'smtp.example.com', username: 'upwave', passwordFile: 'smtp-password' },
          ...{ from: 'upwave@example.com', to: 'ops@example.com' },
        },
      },
      { webhook: { urlFile: 'webhook-url', secretFile: 'webhook-secret' } },
    ],
    rollouts: [{ name: 'production' }],
  },
];

const examples = new Map<string, unknown>();
for (const config of [...files.map((name) => parse(textOf(`config/${name}.yaml`))), ...moreExamples])
  collect(config, '');

/** A value that a valid config has for this key, such as `rollouts[].waves[].soak`, in YAML. @throws without one */
export function exampleOf(path: string): string {
  const example = examples.get(path);
  if (example === undefined) throw new Error(`${path} has no example; add it to moreExamples`);
  return stringify(example, { collectionStyle: 'flow', lineWidth: 0 }).trim();
}

function collect(value: unknown, path: string): void {
  if (!examples.has(path)) examples.set(path, value);
  if (Array.isArray(value)) for (const item of value) collect(item, `${path}[]`);
  else if (typeof value === 'object' && value !== null)
    for (const [key, child] of Object.entries(value)) collect(child, pathBelow(path, key));
}

function pathBelow(path: string, key: string): string {
  if (path === 'accounts') return 'accounts.<name>';
  return path === '' ? key : `${path}.${key}`;
}
