import { createTransport } from 'nodemailer';
import { hashHex } from '../../base/hash.ts';
import { errorCodeOf } from '../../base/node-errors.ts';
import type { DurationMs } from '../../base/time.ts';
import type { SendResult } from '../../orchestrator/ports/notifications.ts';
import type { MailPlace } from '../../rollout/model/receiver.ts';
import type { WrittenNotice } from './written-notice.ts';

/** Sends a message by SMTP, over a connection of its own. */
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
      // The same at each attempt, so that mailboxes know one that comes twice.
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

function mailText({ title, cause, numbers, causes, commands, link }: WrittenNotice): string {
  const blocks = [
    [title],
    [cause, numbers].filter((text) => text !== ''),
    causes.map((each) => `- ${each}`),
    commands.map((command) => `    ${command}`),
    link === undefined ? [] : [link],
  ];
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

/** By its code alone: a server may repeat what it was given (P12). */
function failureOf(error: unknown): SendResult {
  const status =
    error instanceof Error && 'responseCode' in error && typeof error.responseCode === 'number'
      ? error.responseCode
      : undefined;
  const code = errorCodeOf(error) ?? 'no reason';
  if (status === undefined) return { kind: 'failed', reason: `no mail could be handed over (${code})` };
  const reason = `the mail server answered ${status} (${code})`;
  // A 5xx to the message itself is for good; one to the sign-in or to an address is for a person to correct.
  return code === 'EMESSAGE' && status >= 500 ? { kind: 'refused', reason } : { kind: 'failed', reason };
}
