import { errorCodeOf } from '../../base/node-errors.ts';
import type { Clock, DurationMs } from '../../base/time.ts';
import { ProxyError } from '../../http/connections.ts';
import { HttpFault } from '../../http/fault.ts';
import { requestOnce } from '../../http/request-once.ts';
import type { SendNotice, SendResult } from '../../orchestrator/ports/notifications.ts';
import { type HttpMessage, httpMessage } from './http-messages.ts';
import { sendMail } from './send-mail.ts';
import { type Posted, sendToSlack } from './send-to-slack.ts';
import { slackMessage } from './slack-message.ts';
import { type NoticeOrigin, writeNotice } from './written-notice.ts';

// Chat services answer within a second. A firewall that drops packets never does.
const withinMs: DurationMs = 15_000;

// Of most responses only the status matters. One of Slack repeats the message.
const bodyBytesMax = 1_000_000;

/** Makes the sender for all kinds of receivers. It follows no redirects, so that nothing goes to another host (P12). */
export function makeSendNotice(origin: NoticeOrigin & { readonly clock: Clock }): SendNotice {
  return async ({ place }, notice, thread, signal) => {
    const written = writeNotice(notice, origin);
    if (place.kind === 'email') return sendMail(place, written, withinMs, signal);
    if ('token' in place)
      return sendToSlack(place, slackMessage(written), thread, (message) => post(message, signal));
    const { result } = await post(httpMessage(place, written, origin.clock.now()), signal);
    return result;
  };
}

async function post({ url, body, headers }: HttpMessage, signal: AbortSignal): Promise<Posted> {
  const ours = { 'content-type': 'application/json', accept: '*/*', 'user-agent': 'upwave' };
  try {
    const answer = await requestOnce(
      { name: 'notification', method: 'POST', url: new URL(url), body, headers: { ...ours, ...headers } },
      { totalMs: withinMs, bodyBytesMax },
      signal,
    );
    return { result: resultOf(answer.status, answer.headers['retry-after']), body: answer.body };
  } catch (error) {
    if (!(error instanceof HttpFault)) throw error;
    return { result: { kind: 'failed', reason: faultText(error) }, body: '' };
  }
}

/**
 * Statuses that mean a fault of the message itself: retries do not help. A person can correct a fault of the receiver.
 */
const finalStatuses: ReadonlySet<number> = new Set([400, 405, 406, 409, 411, 413, 414, 415, 422]);

function resultOf(status: number, retryAfter: string | undefined): SendResult {
  if (status >= 200 && status <= 299) return { kind: 'sent' };
  if (status >= 300 && status <= 399)
    return { kind: 'failed', reason: `answered ${status}: redirects are not followed, set the final URL` };
  const reason = `answered ${status}`;
  if (finalStatuses.has(status)) return { kind: 'refused', reason };
  const seconds = Number(retryAfter ?? Number.NaN);
  return { kind: 'failed', reason, ...(seconds > 0 && { retryAfterMs: seconds * 1_000 }) };
}

function faultText({ kind, cause, problem }: HttpFault): string {
  switch (kind) {
    case 'connect':
      return cause instanceof ProxyError
        ? problem
        : `no connection (${errorCodeOf(cause) ?? 'unknown error'})`;
    case 'timeout':
      return `no complete response within ${withinMs / 1_000} s`;
    case 'tooLarge':
      return 'the response is too large';
    default:
      return 'the connection broke before the response was complete';
  }
}
