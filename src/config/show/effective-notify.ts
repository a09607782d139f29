import type { Receiver, ReceiverPlace } from '../../rollout/model/receiver.ts';
import { effectiveWindow } from './effective-policy.ts';

/** A receiver in the form of the file, with its secrets masked. */
export function effectiveReceiver({ name, events, policies, quiet, place }: Receiver): object {
  return {
    name,
    [place.kind]: effectivePlace(place),
    events,
    policies,
    ...(quiet !== null && { quiet: effectiveQuiet(quiet) }),
  };
}

function effectiveQuiet(quiet: NonNullable<Receiver['quiet']>): object {
  const { days: _all, ...hours } = effectiveWindow(quiet);
  return hours;
}

/** The host may reveal as much as the path. */
const maskedUrl = 'https://***';

function effectivePlace(place: ReceiverPlace): object {
  switch (place.kind) {
    case 'slack':
    case 'teams':
      return { url: maskedUrl };
    case 'pagerDuty':
      return { routingKey: String(place.routingKey), url: place.url };
    case 'webhook':
      return { url: maskedUrl, secret: String(place.secret) };
    case 'email': {
      const { kind: _kind, login, ...rest } = place;
      if (login === null) return rest;
      return { ...rest, username: login.username, password: String(login.password) };
    }
    default:
      return place satisfies never;
  }
}
