import { createTransport } from 'nodemailer';
import { hashHex } from '../../base/hash.ts';
import { errorCodeOf } from '../../base/node-errors.ts';
import type { DurationMs } from '../../base/time.ts';
import type { SendResult } from '../../orchestrator/ports/notifications.ts';
import type { MailPlace } from '../../rollout/model/receiver.ts';
import type { WrittenNotice } from './written-notice.ts';

/** Sends a message by SMTP, over its own connection. */
export async function sendMail(
  { host, port, tls, login, from, to }: MailPlace,
  written: WrittenNotice,
  withinMs: DurationMs,
  signal: AbortSignal,
): Promise<SendResult> {
  const transport = createTransport({
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    ...(login === null ? {} : { auth: { user: login.username, pass: login.password.reveal() } }),
    connectionTimeout: withinMs,
    greetingTimeout: withinMs,
    socketTimeout: withinMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const close = () => transport.close();
  signal.addEventListener('abort', close, { once: true });
  try {
    await transport.sendMail({
      from,
      to: [...to],
      subject: written.title,
      text: mailText(written),
      // The id is the same at each attempt, so that mailboxes recognise a duplicate.
      messageId: `<${hashHex(written.notice.id, 32)}@upwave>`,
      date: new Date(written.notice.at),
    });
    return { kind: 'sent' };
  } catch (error) {
    return failureOf(error);
  } finally {
    signal.removeEventListener('abort', close);
    transport.close();
  }
}

function mailText({ title, cause, numbers, causes, commands, link, guide }: WrittenNotice): string {
  const blocks = [
    [title],
    [cause, numbers].filter((text) => text !== ''),
    causes.map((each) => `- ${each}`),
    commands.map((command) => `    ${command}`),
    [...(link === undefined ? [] : [link]), ...(guide === undefined ? [] : [`What to do: ${guide}`])],
  ];
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

/** Describes an error by its code only, because a server may repeat the secrets it received (P12). */
function failureOf(error: unknown): SendResult {
  const status =
    error instanceof Error && 'responseCode' in error && typeof error.responseCode === 'number'
      ? error.responseCode
      : undefined;
  const code = errorCodeOf(error) ?? 'unknown error';
  if (status === undefined) return { kind: 'failed', reason: `the mail could not be sent (${code})` };
  const reason = `the mail server answered ${status} (${code})`;
  // A 5xx for the message itself is final. A problem with the sign-in or an address can be corrected.
  return code === 'EMESSAGE' && status >= 500 ? { kind: 'refused', reason } : { kind: 'failed', reason };
}
