import type { NoticeThread, SendResult } from '../../orchestrator/ports/notifications.ts';
import type { SlackChannel } from '../../rollout/model/receiver.ts';
import type { HttpMessage } from './http-messages.ts';

/** The outcome by the status of a response, and its text. */
export interface Posted {
  readonly result: SendResult;
  readonly body: string;
}

/**
 * Sends a message by https://docs.slack.dev/reference/methods/chat.postMessage/, in the thread of its incident.
 * @param thread ignored where the config has another channel by now
 */
export async function sendToSlack(
  place: SlackChannel,
  message: object,
  thread: NoticeThread | null,
  post: (message: HttpMessage) => Promise<Posted>,
): Promise<SendResult> {
  const known = thread?.channel === place.channel ? thread : null;
  const send = async (to: NoticeThread | null) => readAnswer(await post(request(place, message, to)));
  const answer = await send(known);
  if (known !== null && threadErrors.has(answer.error)) return startThread(place, await send(null));
  return known === null ? startThread(place, answer) : answer.result;
}

function request({ apiUrl, token, channel }: SlackChannel, message: object, thread: NoticeThread | null) {
  const inThread = thread === null ? {} : { thread_ts: thread.message };
  return {
    url: `${apiUrl}/chat.postMessage`,
    // A preview would make Slack request the page.
    body: JSON.stringify({ ...message, channel, ...inThread, unfurl_links: false, unfurl_media: false }),
    headers: {
      authorization: `Bearer ${token.reveal()}`,
      'content-type': 'application/json; charset=utf-8',
    },
  };
}

interface SlackAnswer {
  readonly result: SendResult;
  /** Empty for an answer without one. */
  readonly error: string;
  /** The id of the message, empty if it was not posted. */
  readonly ts: string;
}

function startThread({ channel }: SlackChannel, { result, ts }: SlackAnswer): SendResult {
  return result.kind === 'sent' && ts !== '' ? { ...result, thread: { channel, message: ts } } : result;
}

/** The first message is gone, or takes no replies. */
const threadErrors: ReadonlySet<string> = new Set([
  'thread_not_found',
  'message_not_found',
  'cannot_reply_to_message',
  'restricted_action_thread_locked',
  'restricted_action_non_threadable_channel',
]);

/** Faults of the message itself: retries do not help. All others, such as `not_in_channel`, a person can correct. */
const finalErrors: ReadonlySet<string> = new Set([
  'invalid_arguments',
  'invalid_attachments',
  'invalid_blocks',
  'invalid_blocks_format',
  'msg_blocks_too_long',
  'msg_too_long',
  'no_text',
  'too_many_attachments',
]);

/** Slack answers 200 to what it refuses, too, and 429 with `Retry-After` to what comes too fast. */
function readAnswer({ result, body }: Posted): SlackAnswer {
  const { ok, error, ts } = parse(body);
  if (result.kind !== 'sent') return { result, error, ts: '' };
  if (ok) return { result, error: '', ts };
  const reason = error === '' ? 'answered no result of Slack' : `Slack answered ${error}`;
  return { result: { kind: finalErrors.has(error) ? 'refused' : 'failed', reason }, error, ts: '' };
}

/** Only an error in Slack's own form is shown: a server may repeat the secrets that it received (P12). */
function parse(body: string): { readonly ok: boolean; readonly error: string; readonly ts: string } {
  const data = parseObject(body);
  const [error, ts] = [data['error'], data['ts']];
  return {
    ok: data['ok'] === true,
    error: typeof error === 'string' && /^[a-z_]{1,60}$/.test(error) ? error : '',
    ts: typeof ts === 'string' && /^[\d.]{1,40}$/.test(ts) ? ts : '',
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const data: unknown = JSON.parse(text);
    return typeof data === 'object' && data !== null ? { ...data } : {};
  } catch {
    return {};
  }
}
