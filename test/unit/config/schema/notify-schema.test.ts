import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { secretsOf } from '../../../../src/cli/shell/choose-redis.ts';
import { renderEffectiveConfig } from '../../../../src/config/show/effective-config.ts';
import { findRisks } from '../../../../src/config/show/find-risks.ts';
import { usualNoticeEvents } from '../../../../src/rollout/model/notice.ts';
import { problemsOf, readConfig, withSection } from '../../../support/config-fixtures.ts';

const url = 'https://hooks.example.com/services/T0/B0/Hunter2-the-path';
const key = 'Hunter2-the-key-of-16';
const mail = 'email: { host: mail.example.com, from: a@example.com, to: b@example.com }';

const receivers = (text: string, environment = {}) =>
  readConfig(withSection(`notify:\n${text}`), environment).notify;
const problems = (text: string) => problemsOf(() => receivers(text)).join('\n');

describe('the receivers of notifications', () => {
  it('have a name of their own, the usual events and all policies, where nothing else is said', () => {
    expect(
      receivers(`- slack: { url: "${url}" }\n- slack: { url: "${url}" }\n- name: slack-3\n  ${mail}`),
    ).toMatchObject([
      { name: 'slack', events: usualNoticeEvents, policies: ['*'], quiet: null, place: { kind: 'slack' } },
      { name: 'slack-2' },
      {
        name: 'slack-3',
        place: { kind: 'email', port: 587, tls: 'starttls', login: null, to: ['b@example.com'] },
      },
    ]);
  });

  it('have their secrets from the environment or from files, and neither is ever shown (P12)', () => {
    const folder = mkdtempSync(join(tmpdir(), 'upwave-notify-'));
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), `${text}\n`, { mode: 0o600 });
      return join(folder, name);
    };
    const config = readConfig(
      withSection(
        `notify:
- slack: { urlFile: ${file('url', url)} }
- pagerDuty: { routingKey: "\${KEY}" }
- webhook: { url: "${url}", secretFile: ${file('secret', key)} }
- email: { host: h, from: a@b, to: c@d, username: u, passwordFile: ${file('password', key)} }`,
      ),
      { KEY: key },
    );
    const [slack, , webhook, email] = config.notify.map(({ place }) => place);
    expect(slack?.kind === 'slack' && slack.url.reveal()).toBe(url);
    expect(webhook?.kind === 'webhook' && webhook.secret.reveal()).toBe(key);
    expect(email?.kind === 'email' && email.login?.password.reveal()).toBe(key);
    expect(config.secretFiles).toHaveLength(3);
    expect(`${renderEffectiveConfig(config)}${JSON.stringify(config)}`).not.toContain('Hunter2');
    expect(secretsOf(config, 'embedded')).toEqual(expect.arrayContaining([url, key]));
  });

  it.each([
    ['no kind', '- name: a', 'notify[0]: needs one of slack, teams, pagerDuty, email, webhook'],
    [
      'two kinds',
      `- slack: { url: "${url}" }\n  ${mail}`,
      'slack and email are given; make two receivers of them',
    ],
    ['a name twice', `- name: a\n  ${mail}\n- name: a\n  ${mail}`, 'another receiver is called "a" already'],
    ['no URL', '- slack: { url: hooks.example.com }', 'notify[0].slack.url: is no http or https URL'],
    ['no address', '- teams: {}', 'notify[0].teams: needs url or urlFile'],
    ['a short secret', `- webhook: { url: "${url}", secret: short }`, 'is shorter than 16 characters'],
    [
      'a user without a password',
      `- email: { host: h, from: a@b, to: c@d, username: u }`,
      'needs both username and a password',
    ],
    ['an unknown event', `- ${mail}\n  events: [hold]`, 'notify[0].events[0]'],
    [
      'quiet hours of no length',
      `- ${mail}\n  quiet: { from: "22:00", to: "22:00" }`,
      'must not be the same as from',
    ],
    [
      'a file that is not there',
      '- slack: { urlFile: /nowhere/url }',
      "notify[0].slack.urlFile: can't take the secret",
    ],
  ])('are refused with %s', (_name, text, told) => {
    expect(problems(text)).toContain(told);
  });

  it('that are reached without TLS are a risk', () => {
    const risks = (text: string) => findRisks(readConfig(withSection(`notify:\n${text}`)));
    const login = `username: u, password: ${key}`;
    expect(risks('- slack: { url: "http://chat.example.com/x" }')).toHaveLength(1);
    expect(risks(`- email: { host: h, from: a@b, to: c@d, tls: none, ${login} }`)).toHaveLength(1);
    expect(risks(`- slack: { url: "${url}" }\n- email: { host: h, from: a@b, to: c@d, ${login} }`)).toEqual(
      [],
    );
  });
});
