import { type SeenRequest, sendJson, startScriptedServer } from './scripted-server.ts';

/** A message as `chat.postMessage` gets it. */
export interface SlackPost {
  readonly token: string;
  readonly channel: string;
  readonly text: string;
  readonly thread_ts?: string;
}

/** What Slack answers instead of posting: an error of its API, or a throttle. */
type Refusal = { readonly error: string } | { readonly retryAfter: number };

/** The method `chat.postMessage` as https://docs.slack.dev/reference/methods/chat.postMessage/ documents it. */
export async function startFakeSlack(
  refuse: (number: number, post: SlackPost) => Refusal | undefined = () => undefined,
) {
  /** Every call. */
  const calls: SlackPost[] = [];
  /** What was posted, by `ts`. */
  const posted = new Map<string, SlackPost>();
  const server = await startScriptedServer((request, response) => {
    const post = parse(request);
    calls.push(post);
    const refusal = refuse(calls.length - 1, post);
    if (request.path !== '/api/chat.postMessage')
      return sendJson(response, 200, { ok: false, error: 'unknown_method' });
    if (refusal !== undefined && 'retryAfter' in refusal) {
      const headers = { 'retry-after': String(refusal.retryAfter) };
      return sendJson(response, 429, { ok: false, error: 'ratelimited' }, headers);
    }
    if (refusal !== undefined) return sendJson(response, 200, { ok: false, error: refusal.error });
    const ts = `17000000${calls.length}.000100`;
    posted.set(ts, post);
    sendJson(response, 200, { ok: true, channel: post.channel, ts, message: { type: 'message' } });
  });
  return { ...server, apiUrl: `${server.url}/api`, calls, posted };
}

function parse({ headers, text }: SeenRequest): SlackPost {
  const token = String(headers.authorization).replace('Bearer ', '');
  return { ...(JSON.parse(text) as Omit<SlackPost, 'token'>), token };
}
