import { cutText } from '../../base/safe-text.ts';
import { cardStyles } from './tone-colours.ts';
import { linksOf, type WrittenNotice } from './written-notice.ts';

// Teams refuses a message of more than 28 KB:
// https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
const bodyBytesMax = 28_000;

/** The texts are cut to the first of these lengths with which the message fits. */
const lengths = [1_000, 500, 200, 80];

// Teams shows no more buttons of a card.
const buttonsMax = 6;
const commandMax = 1_000;
const urlMax = 1_500;

/** An adaptive card: the headline in colour, causes, figures, and buttons. */
export function teamsCard(written: WrittenNotice): object {
  const cards = lengths.map((length) => cardWith(written, length));
  return cards.find((card) => Buffer.byteLength(JSON.stringify(card)) < bodyBytesMax) ?? cards.at(-1) ?? {};
}

function cardWith(written: WrittenNotice, length: number): object {
  const { tone, title, cause, causes, commands, figures } = written;
  // Text blocks interpret Markdown, which machine names must not be. Text runs are shown verbatim.
  const block = (text: string, style: object = {}) => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text: cut(text, length), ...style }],
  });
  const headline = block(title, { weight: 'Bolder', size: 'Medium' });
  const actions = actionsOf(written, length);
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      { type: 'Container', style: cardStyles[tone], bleed: true, items: [headline] },
      ...(cause === '' ? [] : [block(cause)]),
      ...(figures === null
        ? []
        : [
            block(figures.where),
            { type: 'FactSet', facts: figures.values.map(({ name, value }) => ({ title: name, value })) },
          ]),
      ...causes.map((each) => block(each)),
      ...commands
        // A part of a command would do something else.
        .filter((command) => command.length <= Math.min(commandMax, length))
        .map((command) => block(command, { fontType: 'Monospace' })),
    ],
    ...(actions.length === 0 ? {} : { actions }),
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return { type: 'message', attachments: [{ contentType, content }] };
}

/** The page, the verbs and the guide, as far as there is room: the guide stays. */
function actionsOf(written: WrittenNotice, length: number): readonly object[] {
  const links = linksOf(written).map(({ text, href }) => ({ label: text, href }));
  const [page, guides] = [links.slice(0, 1), links.slice(1)];
  const verbs = written.buttons.slice(0, buttonsMax - links.length);
  return [...page, ...verbs, ...guides]
    .filter(({ href }) => href.length <= urlMax)
    .map(({ label, href }) => ({
      type: 'Action.OpenUrl',
      title: cut(label, Math.min(length, 75)),
      url: href,
    }));
}

function cut(text: string, length: number): string {
  return text.length > length ? `${cutText(text, length - 1)}…` : text;
}
