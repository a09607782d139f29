import { errorCodeOf } from '../../base/node-errors.ts';
import type { Clock, DurationMs } from '../../base/time.ts';
import { HttpFault } from '../../http/fault.ts';
import { requestOnce } from '../../http/request-once.ts';
import type { SendNotice, SendResult } from '../../orchestrator/ports/notifications.ts';
import { type HttpMessage, httpMessage } from './http-messages.ts';
import { sendMail } from './send-mail.ts';
import { type NoticeOrigin, writeNotice } from './written-notice.ts';

// Chat services answer within a second; a firewall that drops packets never does.
const withinMs: DurationMs = 15_000;

// Only the status of an answer counts.
const bodyBytesMax = 1_000_000;

/** Makes the sender for all kinds of receivers. It follows no redirect, so nothing goes to another host (P12). */
export function makeSendNotice(origin: NoticeOrigin & { readonly clock: Clock }): SendNotice {
  return async ({ place }, notice, signal) => {
    const written = writeNotice(notice, origin);
    if (place.kind === 'email') return sendMail(place, written, withinMs, signal);
    return post(httpMessage(place, written, origin.clock.now()), signal);
  };
}

async function post({ url, body, headers }: HttpMessage, signal: AbortSignal): Promise<SendResult> {
  const ours = { 'content-type': 'application/json', accept: '*/*', 'user-agent': 'upwave' };
  try {
    const answer = await requestOnce(
      { name: 'notification', method: 'POST', url: new URL(url), body, headers: { ...ours, ...headers } },
      { totalMs: withinMs, bodyBytesMax },
      signal,
    );
    return resultOf(answer.status, answer.headers['retry-after']);
  } catch (error) {
    if (!(error instanceof HttpFault)) throw error;
    // The body of the answer does not matter once the status is known.
    return { kind: 'failed', reason: faultWords(error) };
  }
}

/** True for a fault of the message itself: retries do not help. A fault of the receiver can be corrected by a person. */
const refusedFor: ReadonlySet<number> = new Set([400, 405, 406, 409, 411, 413, 414, 415, 422]);

function resultOf(status: number, retryAfter: string | undefined): SendResult {
  if (status >= 200 && status <= 299) return { kind: 'sent' };
  if (status >= 300 && status <= 399)
    return { kind: 'failed', reason: `answered ${status}: no redirect is followed, give the right URL` };
  const reason = `answered ${status}`;
  if (refusedFor.has(status)) return { kind: 'refused', reason };
  const seconds = Number(retryAfter ?? Number.NaN);
  return { kind: 'failed', reason, ...(seconds > 0 && { retryAfterMs: seconds * 1_000 }) };
}

function faultWords({ kind, cause }: HttpFault): string {
  switch (kind) {
    case 'connect':
      return `no connection (${errorCodeOf(cause) ?? 'no reason'})`;
    case 'timeout':
      return `no complete answer within ${withinMs / 1_000} s`;
    case 'tooLarge':
      return 'its answer is too large';
    default:
      return 'the connection broke before the answer was complete';
  }
}
