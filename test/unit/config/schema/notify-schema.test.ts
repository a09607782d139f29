import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { secretsOf } from '../../../../src/cli/shell/choose-redis.ts';
import { renderEffectiveConfig } from '../../../../src/config/show/effective-config.ts';
import { findRisks } from '../../../../src/config/show/find-risks.ts';
import { usualNoticeEvents } from '../../../../src/rollout/model/notice.ts';
import { aFolder } from '../../../support/a-folder.ts';
import { problemsOf, readConfig, withSection } from '../../../support/config-fixtures.ts';

const url = 'https://hooks.example.com/services/T0/B0/Hunter2-the-path';
const key = 'Hunter2-the-key-of-16';
const mail = 'email: { host: mail.example.com, from: a@example.com, to: b@example.com }';

const receivers = (text: string, environment = {}) =>
  readConfig(withSection(`notify:\n${text}`), environment).notify;
const problems = (text: string) => problemsOf(() => receivers(text)).join('\n');

describe('the receivers of notifications', () => {
  it('have their own name, the usual events and all policies by default', () => {
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
    const folder = aFolder();
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), `${text}\n`, { mode: 0o600 });
      return join(folder, name);
    };
    const config = readConfig(
      withSection(
        `notify:
- slack: { urlFile: ${file('url', url)} }
- pagerDuty: { routingKey: "\${KEY}" }
- slack: { tokenFile: ${file('token', key)}, channel: C012 }
- webhook: { url: "${url}", secretFile: ${file('secret', key)} }
- email: { host: h, from: a@b, to: c@d, username: u, passwordFile: ${file('password', key)} }`,
      ),
      { KEY: key },
    );
    const [slack, , channel, webhook, email] = config.notify.map(({ place }) => place);
    expect(slack?.kind === 'slack' && 'url' in slack && slack.url.reveal()).toBe(url);
    expect(channel).toMatchObject({ kind: 'slack', apiUrl: 'https://slack.com/api', channel: 'C012' });
    expect(webhook?.kind === 'webhook' && webhook.secret.reveal()).toBe(key);
    expect(email?.kind === 'email' && email.login?.password.reveal()).toBe(key);
    expect(config.secretFiles).toHaveLength(4);
    expect(`${renderEffectiveConfig(config)}${JSON.stringify(config)}`).not.toContain('Hunter2');
    expect(secretsOf(config, 'embedded')).toEqual(expect.arrayContaining([url, key]));
  });

  const login = 'host: h, from: a@b, to: c@d, username: u';
  it.each([
    ['- name: a', 'notify[0]: needs slack, teams, pagerDuty, email or webhook'],
    [`- slack: { url: "${url}" }\n  ${mail}`, 'slack and email are given; make two receivers of them'],
    [`- name: a\n  ${mail}\n- name: a\n  ${mail}`, 'another receiver is called "a" already'],
    ['- slack: { url: hooks.example.com }', 'notify[0].slack.url: is not an http or https URL'],
    ['- slack: { channel: C012 }', 'notify[0].slack: needs url, urlFile, token or tokenFile'],
    [`- slack: { token: "${key}" }`, 'needs both a token and a channel, or none of them'],
    [`- slack: { url: "${url}", channel: C012 }`, 'needs both a token and a channel, or none of them'],
    [`- slack: { url: "${url}", token: "${key}", channel: C012 }`, 'url and token are given; keep one'],
    [`- slack: { token: "${key}", channel: "#ops" }`, 'must be the id of a channel'],
    ['- teams: {}', 'notify[0].teams: needs url or urlFile'],
    [`- webhook: { url: "${url}", secret: short }`, 'is shorter than 16 characters'],
    [`- email: { ${login} }`, 'needs both username and a password'],
    [`- ${mail}\n  events: [hold]`, 'notify[0].events[0]'],
    [`- ${mail}\n  quiet: { from: "22:00", to: "22:00" }`, 'must not be the same as from'],
    ['- slack: { urlFile: /nowhere/url }', "notify[0].slack.urlFile: can't take the secret"],
  ])('are refused: %s', (text, problem) => {
    expect(problems(text)).toContain(problem);
  });

  it('that are reached without TLS are a risk', () => {
    const risks = (text: string) => findRisks(readConfig(withSection(`notify:\n${text}`)));
    const mailTo = (more: string) => `- email: { ${login}, password: ${key}${more} }`;
    expect(risks('- slack: { url: "http://chat.example.com/x" }')).toHaveLength(1);
    const api = (apiUrl: string) => `- slack: { token: "${key}", channel: C012, apiUrl: "${apiUrl}" }`;
    expect(risks(api('http://slack.example.com/api'))).toHaveLength(1);
    expect(risks(api('https://slack-gov.com/api'))).toEqual([]);
    expect(risks(mailTo(', tls: none'))).toHaveLength(1);
    expect(risks(`- slack: { url: "${url}" }\n${mailTo('')}`)).toEqual([]);
  });
});
