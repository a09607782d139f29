import type { Secret } from '../../base/secret.ts';
import type { NoticeEvent } from './notice.ts';
import type { WindowRule } from './policy.ts';

/** One entry of `notify:`. Who gets messages, about what, when. */
export interface Receiver {
  /** Unique in the config. Messages that wait for it are known by it. */
  readonly name: string;
  readonly events: readonly NoticeEvent[];
  /** Patterns of the policies it hears of; one that matches is enough. */
  readonly policies: readonly string[];
  /** When only what needs a person is sent; null: never. */
  readonly quiet: WindowRule | null;
  readonly place: ReceiverPlace;
}

/** Where the messages go. A URL whose path is all that keeps others out is a secret (P12). */
export type ReceiverPlace =
  | { readonly kind: 'slack' | 'teams'; readonly url: Secret }
  | { readonly kind: 'pagerDuty'; readonly url: string; readonly routingKey: Secret }
  /** `secret` signs each message. */
  | { readonly kind: 'webhook'; readonly url: Secret; readonly secret: Secret }
  | MailPlace;

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
