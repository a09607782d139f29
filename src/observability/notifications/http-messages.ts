import { createHmac } from 'node:crypto';
import type { EpochMs } from '../../base/time.ts';
import type { ReceiverPlace } from '../../rollout/model/receiver.ts';
import type { WrittenNotice } from './written-notice.ts';

/** A message as an HTTP POST with a JSON body. */
export interface HttpMessage {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

type HttpPlace = Exclude<ReceiverPlace, { kind: 'email' }>;

/** Formats a message for its receiver. */
export function httpMessage(place: HttpPlace, written: WrittenNotice, now: EpochMs): HttpMessage {
  switch (place.kind) {
    case 'slack':
      return { url: place.url.reveal(), body: JSON.stringify({ text: slackText(written) }), headers: {} };
    case 'teams':
      return { url: place.url.reveal(), body: JSON.stringify(teamsCard(written)), headers: {} };
    case 'pagerDuty':
      return pagerDutyEvent(place, written);
    case 'webhook': {
      const body = JSON.stringify(plainBody(written));
      const seconds = Math.floor(now / 1_000);
      const signature = sign(place.secret.reveal(), `${seconds}.${body}`);
      const headers = {
        'upwave-id': written.notice.id.replace(/[^\x21-\x7e]/g, '_'),
        'upwave-signature': `t=${seconds},v1=${signature}`,
      };
      return { url: place.url.reveal(), body, headers };
    }
    default:
      return place satisfies never;
  }
}

/** HMAC-SHA256 in hexadecimal digits. The receiver computes it as well, and refuses old messages. */
function sign(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}

function slackText({ title, cause, numbers, causes, commands, ...links }: WrittenNotice): string {
  const escaped = (text: string) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return [
    `*${escaped(title)}*`,
    ...[cause, numbers].filter((text) => text !== '').map(escaped),
    ...causes.map((each) => `• ${escaped(each)}`),
    ...commands.map((command) => `\`${escaped(command)}\``),
    ...linksOf(links).map(({ text, href }) => `<${href}|${text}>`),
  ].join('\n');
}

function teamsCard({ title, cause, numbers, causes, commands, ...links }: WrittenNotice): object {
  // Text blocks interpret Markdown, which machine names must not be. Text runs are shown verbatim.
  const block = (text: string, style: object = {}) => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text, ...style }],
  });
  const actions = linksOf(links).map(({ text, href }) => ({
    type: 'Action.OpenUrl',
    title: text,
    url: href,
  }));
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      block(title, { weight: 'Bolder', size: 'Medium' }),
      ...[cause, numbers, ...causes].filter((text) => text !== '').map((text) => block(text)),
      ...commands.map((command) => block(command, { fontType: 'Monospace' })),
    ],
    ...(actions.length === 0 ? {} : { actions }),
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return { type: 'message', attachments: [{ contentType, content }] };
}

// PagerDuty refuses longer texts.
const summaryLengthMax = 1_024;
const dedupKeyLengthMax = 255;

/** An incident is triggered and resolved under one key. Other messages are change events, which page nobody. */
function pagerDutyEvent(
  { url, routingKey }: Extract<HttpPlace, { kind: 'pagerDuty' }>,
  { notice, title, cause, numbers, causes, commands, installation, ...others }: WrittenNotice,
): HttpMessage {
  const isChange = notice.phase === 'once';
  const summary = (cause === '' ? title : `${title}: ${cause}`).slice(0, summaryLengthMax);
  const source = installation ?? 'upwave';
  const timestamp = new Date(notice.at).toISOString();
  const custom_details = { policy: notice.policy, numbers, causes, commands };
  const links = linksOf(others);
  const event = isChange
    ? { payload: { summary, source, timestamp, custom_details }, links }
    : {
        event_action: notice.phase === 'raised' ? 'trigger' : 'resolve',
        dedup_key: `${source}/${notice.incident}`.slice(0, dedupKeyLengthMax),
        payload: {
          ...{ summary, source, timestamp, custom_details },
          severity: notice.details.event === 'held' ? 'critical' : 'warning',
          component: notice.policy,
          class: notice.details.event,
        },
        client: 'upwave',
        links,
      };
  const path = isChange ? '/v2/change/enqueue' : '/v2/enqueue';
  const body = JSON.stringify({ routing_key: routingKey.reveal(), ...event });
  return { url: `${url}${path}`, body, headers: {} };
}

function linksOf({ link, guide }: Pick<WrittenNotice, 'link' | 'guide'>) {
  return [
    ...(link === undefined ? [] : [{ href: link, text: 'Open the page' }]),
    ...(guide === undefined ? [] : [{ href: guide, text: 'What to do' }]),
  ];
}

function plainBody(written: WrittenNotice): object {
  const { notice, installation, title, cause, numbers, causes, commands, link, guide } = written;
  const { id, incident, phase, at, policy, details, figures } = notice;
  const text = { title, cause, numbers, causes };
  return {
    ...{ id, incident, phase, event: details.event, at: new Date(at).toISOString() },
    ...{ installation: installation ?? null, policy, needsPerson: phase === 'raised' },
    ...{ details, figures, commands, link: link ?? null, guide: guide ?? null, text },
  };
}
