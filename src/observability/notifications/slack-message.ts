import { cutText } from '../../base/safe-text.ts';
import { toneColours } from './tone-colours.ts';
import { linksOf, type WrittenNotice } from './written-notice.ts';

// Limits of https://docs.slack.dev/reference/block-kit/blocks/ (section, actions, context), of
// https://docs.slack.dev/reference/block-kit/block-elements/button-element/, and of the text of
// https://docs.slack.dev/reference/methods/chat.postMessage/. Slack refuses a message that exceeds one of them.
const textMax = 4_000;
const sectionMax = 3_000;
const fieldMax = 2_000;
const buttonTextMax = 75;
const buttonUrlMax = 3_000;
const buttonsMax = 25;

// A part of a command would do something else, so a longer one is left out.
const commandMax = 1_000;

/**
 * A message of Slack: the headline, and below it a coloured bar with figures, causes and buttons. `text` is what
 * notifications show, and chats that know no blocks, such as Mattermost.
 */
export function slackMessage(written: WrittenNotice): object {
  const { tone, title, cause, numbers, causes, commands, figures, buttons } = written;
  const links = linksOf(written);
  const headline = `*${fitted([escaped(title)], sectionMax - 2)}*`;
  const causeLines = causes.map((each) => `• ${escaped(each)}`);
  const commandLines = commands.map(codeOf).filter(({ length }) => length <= commandMax);
  const text = [
    headline,
    ...[cause, numbers].filter((words) => words !== '').map(escaped),
    ...causeLines,
    ...commandLines,
    ...links.filter(isShortLink).map(({ text: words, href }) => `<${escaped(href)}|${words}>`),
  ];
  const details = [
    ...(cause === '' ? [] : [section([escaped(cause)])]),
    ...(figures === null ? [] : [fieldsOf(figures)]),
    ...(causeLines.length === 0 ? [] : [section(causeLines)]),
    ...(commandLines.length === 0 ? [] : [section(commandLines)]),
    ...buttonsOf(buttons, links),
  ];
  return {
    text: fitted(text, textMax),
    blocks: [section([headline])],
    ...(details.length > 0 && { attachments: [{ color: toneColours[tone], blocks: details }] }),
  };
}

/** https://docs.slack.dev/messaging/formatting-message-text/: these three characters begin links and mentions. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function codeOf(command: string): string {
  return command.includes('`') ? escaped(command) : `\`${escaped(command)}\``;
}

/** As many lines as fit; the first of them is cut where even it is too long, but not within an escaped character. */
function fitted(lines: readonly string[], lengthMax: number): string {
  let text = '';
  for (const line of lines) {
    const next = text === '' ? line : `${text}\n${line}`;
    if (next.length > lengthMax) return text === '' ? `${cutEscaped(line, lengthMax - 1)}…` : text;
    text = next;
  }
  return text;
}

function cutEscaped(text: string, lengthMax: number): string {
  return cutText(text, lengthMax).replace(/&[a-z]{0,3}$/, '');
}

/** With `verbatim`, Slack makes no links and mentions of names such as #channel. */
function markdown(text: string): object {
  return { type: 'mrkdwn', text, verbatim: true };
}

function section(lines: readonly string[]): object {
  return { type: 'section', text: markdown(fitted(lines, sectionMax)) };
}

function fieldsOf({ where, values }: NonNullable<WrittenNotice['figures']>): object {
  const fields = values.map(({ name, value }) => markdown(fitted([`*${name}*`, escaped(value)], fieldMax)));
  return { type: 'section', text: markdown(fitted([escaped(where)], sectionMax)), fields };
}

function isShortLink({ href }: { readonly href: string }): boolean {
  return href.length <= buttonUrlMax;
}

/** The page, then the verbs, then the guide. A link that is too long is left out: a part of it would lead elsewhere. */
function buttonsOf(
  buttons: WrittenNotice['buttons'],
  [page, ...guides]: ReturnType<typeof linksOf>,
): readonly object[] {
  const shown = [
    ...(page === undefined ? [] : [{ label: page.text, href: page.href, isStopping: false }]),
    ...buttons,
    ...guides.map(({ text, href }) => ({ label: text, href, isStopping: false })),
  ].filter(isShortLink);
  const elements = shown.slice(0, buttonsMax).map(({ label, href, isStopping }, index) => ({
    type: 'button',
    action_id: `upwave-${index}`,
    text: { type: 'plain_text', text: fitted([label], buttonTextMax), emoji: false },
    url: href,
    ...(isStopping && { style: 'danger' }),
  }));
  return elements.length === 0 ? [] : [{ type: 'actions', elements }];
}
