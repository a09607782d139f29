import { invariant } from '../../base/assert.ts';
import type { Secret } from '../../base/secret.ts';
import type { Receiver, ReceiverPlace } from '../../rollout/model/receiver.ts';
import type { NotifyEntry } from '../schema/notify-schema.ts';
import { freeName } from '../schema/value-schemas.ts';
import { type NamedFiles, secretOr } from './read-named-files.ts';

/** Makes the receivers of the config, each with a name and its secrets. */
export function receiversOf(
  entries: readonly NotifyEntry[],
  files: NamedFiles['byPath'],
): readonly Receiver[] {
  const names = new Set(entries.flatMap(({ name }) => name ?? []));
  return entries.map((entry, index) => {
    const secret: ReadSecret = (inline, kind, key) =>
      secretOr(inline, files, `notify[${index}].${kind}.${key}`);
    const place = placeOf(entry, secret);
    const name = entry.name ?? freeName(place.kind.toLowerCase(), names);
    names.add(name);
    const { events, policies, quiet } = entry;
    return { name, events, policies, quiet: quiet ?? null, place };
  });
}

type ReadSecret = (inline: Secret | undefined, kind: string, key: string) => Secret;

function placeOf(
  { slack, teams, pagerDuty, email, webhook }: NotifyEntry,
  secret: ReadSecret,
): ReceiverPlace {
  if (slack !== undefined) {
    const { channel, apiUrl } = slack;
    return channel === undefined
      ? { kind: 'slack', url: secret(slack.url, 'slack', 'urlFile') }
      : { kind: 'slack', apiUrl, channel, token: secret(slack.token, 'slack', 'tokenFile') };
  }
  if (teams !== undefined) return { kind: 'teams', url: secret(teams.url, 'teams', 'urlFile') };
  if (pagerDuty !== undefined) {
    const { url, routingKey } = pagerDuty;
    return { kind: 'pagerDuty', url, routingKey: secret(routingKey, 'pagerDuty', 'routingKeyFile') };
  }
  if (webhook !== undefined) {
    const url = secret(webhook.url, 'webhook', 'urlFile');
    return { kind: 'webhook', url, secret: secret(webhook.secret, 'webhook', 'secretFile') };
  }
  invariant(email !== undefined, 'the schema requires one of the kinds');
  const { username, password, passwordFile: _file, ...rest } = email;
  const login =
    username === undefined ? null : { username, password: secret(password, 'email', 'passwordFile') };
  return { kind: 'email', ...rest, login };
}
