import type { Secret } from '../../base/secret.ts';
import type { NoticeEvent } from './notice.ts';
import type { WindowRule } from './policy.ts';

/** One entry of `notify:`: a receiver with its events, policies and quiet hours. */
export interface Receiver {
  /** Unique in the config. Waiting messages are stored under it. */
  readonly name: string;
  readonly events: readonly NoticeEvent[];
  /** Patterns of its policies. One matching pattern is enough. */
  readonly policies: readonly string[];
  /** When only messages that need a person are sent; null: never. */
  readonly quiet: WindowRule | null;
  readonly place: ReceiverPlace;
}

/** The address of the receiver. A URL with a secret path is a secret itself (P12). */
export type ReceiverPlace =
  | { readonly kind: 'slack' | 'teams'; readonly url: Secret }
  | SlackChannel
  | { readonly kind: 'pagerDuty'; readonly url: string; readonly routingKey: Secret }
  /** `secret` signs each message. */
  | { readonly kind: 'webhook'; readonly url: Secret; readonly secret: Secret }
  | MailPlace;

/** A channel of Slack that is reached through its API, which knows threads. */
export interface SlackChannel {
  readonly kind: 'slack';
  readonly apiUrl: string;
  readonly token: Secret;
  readonly channel: string;
}

export interface MailPlace {
  readonly kind: 'email';
  readonly host: string;
  readonly port: number;
  /** `implicit`: TLS from the first byte. `starttls`: nothing is sent before TLS. `none`: no TLS at all. */
  readonly tls: 'implicit' | 'starttls' | 'none';
  readonly login: { readonly username: string; readonly password: Secret } | null;
  readonly from: string;
  readonly to: readonly string[];
}
