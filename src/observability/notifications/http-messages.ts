import { createHmac } from 'node:crypto';
import type { EpochMs } from '../../base/time.ts';
import { needsPersonNow } from '../../rollout/model/notice.ts';
import type { MailPlace, ReceiverPlace, SlackChannel } from '../../rollout/model/receiver.ts';
import { slackMessage } from './slack-message.ts';
import { teamsCard } from './teams-card.ts';
import { linksOf, type WrittenNotice } from './written-notice.ts';

/** A message as an HTTP POST with a JSON body. */
export interface HttpMessage {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What takes each message by one POST whose status tells the outcome. */
type HttpPlace = Exclude<ReceiverPlace, MailPlace | SlackChannel>;

/** Formats a message for its receiver. */
export function httpMessage(place: HttpPlace, written: WrittenNotice, now: EpochMs): HttpMessage {
  switch (place.kind) {
    case 'slack':
      return { url: place.url.reveal(), body: JSON.stringify(slackMessage(written)), headers: {} };
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

function plainBody(written: WrittenNotice): object {
  const { notice, installation, title, cause, numbers, causes, commands, link, guide } = written;
  const { id, incident, phase, at, policy, details, figures } = notice;
  const text = { title, cause, numbers, causes };
  return {
    ...{ id, incident, phase, event: details.event, at: new Date(at).toISOString() },
    ...{ installation: installation ?? null, policy, needsPerson: needsPersonNow(notice) },
    details,
    // A rollback takes each collector back to its own build.
    figures: figures?.kind === 'rollback' ? { ...figures, targetBuild: null } : figures,
    ...{ commands, link: link ?? null, guide: guide ?? null, text },
  };
}
