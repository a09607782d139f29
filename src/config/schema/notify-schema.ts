import { z } from 'zod';
import { noticeEvents, usualNoticeEvents } from '../../rollout/model/notice.ts';
import { TimeZoneSchema, timeOfDay, weekDays } from './calendar-schemas.ts';
import {
  guessable,
  oneOf,
  oneOrMany,
  reportSeveral,
  secretFile,
  secretText,
  shortName,
  type Unfit,
  uniqueNames,
  unprintable,
  wholeCheck,
  wholeNumber,
} from './value-schemas.ts';

/** A secret URL is never shown, so the message has only the error. */
export const noHttpUrl: Unfit = {
  pattern: /^(?!https?:\/\/[^\s/@?#]+(?:[/?#]|$))/i,
  sentence: 'is not an http or https URL, or carries a user name',
};

/** @param variable suggested for the environment */
const secretUrl = (variable: string) => ({
  url: secretText(unprintable, noHttpUrl)
    .exactOptional()
    .describe(`The address that gets the messages, a secret. Take it from the environment: \${${variable}}.`),
  urlFile: secretFile('the address', 'url'),
});

const Slack = z
  .strictObject({
    ...secretUrl('SLACK_URL'),
    token: secretText(unprintable)
      .exactOptional()
      .describe(
        'The token of a Slack app with the scope chat:write. With it, the messages about an incident are one thread.',
      ),
    tokenFile: secretFile('the token', 'token'),
    channel: z
      .string()
      .regex(/^[CGD][A-Z0-9]{1,40}$/, 'must be the id of a channel, such as C0123456789')
      .exactOptional()
      .describe(
        'The id of the channel, such as C0123456789; only with a token. The app must be a member of it.',
      ),
    apiUrl: z
      .string()
      .max(2_000)
      .regex(
        /^https?:\/\/[^\s/@?#]+(?:\/[^\s?#]*[^\s?#/])?$/i,
        'must be an address such as https://slack.com/api',
      )
      .default('https://slack.com/api')
      .describe('The address of the API of Slack; only used with a token.'),
  })
  .check(oneOf(['url', 'urlFile', 'token', 'tokenFile']))
  .check(
    wholeCheck(({ token, tokenFile, channel }, report) => {
      const hasToken = token !== undefined || tokenFile !== undefined;
      if (hasToken !== (channel !== undefined)) report('needs both a token and a channel, or none of them');
    }),
  )
  .describe(
    'An incoming webhook of Slack, or of a chat that takes the same, such as Mattermost; or the API of Slack, by a token and a channel.',
  );

const Teams = z
  .strictObject(secretUrl('TEAMS_URL'))
  .check(oneOf(['url', 'urlFile']))
  .describe('A webhook of a Microsoft Teams workflow that posts adaptive cards.');

const Webhook = z
  .strictObject({
    ...secretUrl('UPWAVE_WEBHOOK_URL'),
    secret: secretText(unprintable, guessable)
      .exactOptional()
      .describe('The secret that signs each message, of 16 characters or more.'),
    secretFile: secretFile('the secret', 'secret'),
  })
  .check(oneOf(['url', 'urlFile']))
  .check(oneOf(['secret', 'secretFile']))
  .describe('A service of your own. It gets a POST of JSON with an HMAC-SHA256 signature.');

const PagerDuty = z
  .strictObject({
    routingKey: secretText(unprintable)
      .exactOptional()
      .describe('The integration key of an Events API v2 integration.'),
    routingKeyFile: secretFile('the key', 'routingKey'),
    url: z
      .string()
      .regex(
        /^https?:\/\/[^\s/@?#]+$/i,
        'must be an address such as https://events.eu.pagerduty.com, without a path',
      )
      .default('https://events.pagerduty.com')
      .describe('The address of the Events API. Accounts in the EU have https://events.eu.pagerduty.com.'),
  })
  .check(oneOf(['routingKey', 'routingKeyFile']))
  .describe('PagerDuty, by its Events API v2. The end of an incident resolves it.');

const mailAddress = z
  .string()
  .max(320)
  .regex(/^[^\s@<>,;"]+@[^\s@<>,;"]+$/, 'must be an address such as upwave@example.com');

const Email = z
  .strictObject({
    host: z
      .string()
      .regex(/^[A-Za-z0-9.:-]{1,253}$/, 'is not a host name or address')
      .describe('The host of the SMTP server.'),
    port: wholeNumber(1, 65_535).default(587).describe('The port of the SMTP server.'),
    tls: z
      .enum(['starttls', 'implicit', 'none'])
      .default('starttls')
      .describe(
        'How the connection is protected. implicit is usual on port 465. With none, messages and password travel in the open.',
      ),
    username: z
      .string()
      .min(1)
      .max(320)
      .exactOptional()
      .describe('The user name, where the server wants a sign-in.'),
    password: secretText().exactOptional().describe('The password, where the server wants a sign-in.'),
    passwordFile: secretFile('the password', 'password'),
    from: mailAddress.describe('The sender.'),
    to: oneOrMany(mailAddress, 50).describe('One address, or a list of them.'),
  })
  .check(
    wholeCheck((email, report) => {
      const { username, password, passwordFile } = email;
      reportSeveral(email, ['password', 'passwordFile'], report);
      const hasPassword = password !== undefined || passwordFile !== undefined;
      if (hasPassword !== (username !== undefined))
        report('needs both username and a password, or none of them');
    }),
  )
  .describe('E-mail by SMTP.');

const Quiet = z
  .strictObject({
    from: timeOfDay('23:59').describe('When quiet hours begin, in local time, such as "22:00".'),
    to: timeOfDay('24:00').describe('When they end. A time before from is on the next day.'),
    timeZone: TimeZoneSchema.default('UTC').describe('The IANA time zone of from and to.'),
  })
  .check(
    wholeCheck(({ from, to }, report) => {
      if (typeof from === 'number' && from === to) report('must not be the same as from', ['to']);
    }),
  )
  .transform(({ from, to, timeZone }) => ({
    days: weekDays.map((_day, index) => index + 1),
    fromMinute: from,
    toMinute: to,
    timeZone,
  }))
  .describe(
    'Quiet hours. Only messages about incidents that need a person, and about their ends, are sent. The others wait until quiet hours end.',
  );

const Receiver = z
  .strictObject({
    name: shortName()
      .exactOptional()
      .describe(
        'The name of the receiver, unique in the list. The default is its kind, such as slack, or slack-2.',
      ),
    slack: Slack.exactOptional(),
    teams: Teams.exactOptional(),
    pagerDuty: PagerDuty.exactOptional(),
    email: Email.exactOptional(),
    webhook: Webhook.exactOptional(),
    events: z
      .array(z.enum(noticeEvents))
      .min(1, 'is an empty list; remove the key for the usual events')
      .default([...usualNoticeEvents])
      .describe(
        'What is sent: started, wavePassed, approvalNeeded, held, stratumHeld, finished, noProgress, discoveryFailing. The default is every event that needs a person, and the end of a rollout.',
      ),
    policies: oneOrMany(z.string().min(1).max(200), 100)
      .prefault(['*'])
      .describe('The policies that it gets messages about: names or globs, such as "production*".'),
    quiet: Quiet.exactOptional(),
  })
  .check(oneOf(['slack', 'teams', 'pagerDuty', 'email', 'webhook'], 'make two receivers of them'))
  .describe('One receiver of notifications: exactly one of slack, teams, pagerDuty, email and webhook.');

/** The receivers and their events. */
export const NotifySchema = z
  .array(Receiver)
  .max(50)
  .check(uniqueNames('receiver'))
  .prefault([])
  .describe('The receivers of notifications. A reload applies changes.');
export type NotifyEntry = z.output<typeof Receiver>;
