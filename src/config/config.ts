import type { Secret } from '../base/secret.ts';
import type { DurationMs } from '../base/time.ts';
import type { Policy } from '../rollout/model/policy.ts';
import type { Receiver } from '../rollout/model/receiver.ts';
import type { ReportFormat } from '../rollout/report/write-report.ts';
import type { TrustedProxy } from './schema/http-schema.ts';
import type { RedisNode } from './schema/redis-schema.ts';

/** The loaded config: with defaults, with secrets, and with durations in milliseconds. */
export type Config = CommonConfig &
  (
    | { readonly service: ServiceConfig; readonly accounts?: undefined }
    | { readonly service?: undefined; readonly accounts: readonly Account[] }
  );

/** One of several accounts. */
export interface Account {
  readonly name: string;
  readonly service: ServiceConfig;
  /** Prefix of all its keys in Redis; undefined: derived from its name. */
  readonly keyPrefix?: string | undefined;
  /** Names of its policies. */
  readonly policies: readonly string[];
}

/** The daemon's config for one account, with only the policies of that account. */
export interface AccountConfig extends CommonConfig {
  readonly service: ServiceConfig;
  /** Its name; undefined if the file has `service` and no `accounts`. */
  readonly account?: string;
  /** Prefix of its keys; undefined: derived from its name. */
  readonly accountKeyPrefix?: string;
}

interface CommonConfig {
  /** Undefined if the file has none: a command-line option decides. */
  readonly redis: RedisConfig | undefined;
  readonly http: HttpConfig;
  /** Receivers of notifications. */
  readonly notify: readonly Receiver[];
  /** Where reports of ended rollouts are written; undefined: nowhere. */
  readonly report?: ReportConfig | undefined;
  /** A label on every metric, and in every message; undefined: none. */
  readonly installation?: string | undefined;
  /** A build that is held in one account is held in all of them. */
  readonly learnsFromAccounts: boolean;
  /** How long an ended rollout is kept. */
  readonly historyMs: DurationMs;
  readonly log: { readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent' };
  readonly rollouts: readonly Policy[];
  /** Whole paths of the files that secrets were read from. */
  readonly secretFiles?: readonly string[];
}

export interface ReportConfig {
  /** A whole path. */
  readonly directory: string;
  readonly formats: readonly ReportFormat[];
}

export interface ServiceConfig {
  /** Without a trailing slash and `/v1`. */
  readonly baseUrl: string;
  readonly accessId: Secret;
  readonly accessKey: Secret;
  /** In lower case; a leading `*.` stands for one label, `:port` may follow. */
  readonly allowedHosts: readonly string[];
  readonly requestsPerSecond: number;
  readonly concurrentRequests: number;
  /** Above 0, up to 1. */
  readonly budgetShare: number;
  readonly requestTimeoutMs: DurationMs;
  /** PEM of authorities that are trusted beside the public ones. */
  readonly ca?: string | undefined;
}

export type RedisConfig = {
  readonly keyPrefix: string;
  /** PEM of authorities that are trusted beside the public ones. */
  readonly ca?: string | undefined;
} & (
  | {
      readonly kind: 'single';
      /** `redis://…`, `rediss://…`, `unix:///path` or `/path`; the password is in it. */
      readonly url: Secret;
    }
  | ({
      readonly kind: 'sentinel';
      readonly sentinels: readonly RedisNode[];
      readonly name: string;
    } & RedisAccess)
  | ({ readonly kind: 'cluster'; readonly nodes: readonly RedisNode[] } & RedisAccess)
);

/** A single server has these in its URL. */
interface RedisAccess {
  readonly username: string | undefined;
  readonly password: Secret | undefined;
  readonly tls: boolean;
}

export interface HttpConfig {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** The token of a single operator without a name. */
  readonly token: Secret | undefined;
  /** Where people reach the page, without a trailing slash; undefined: messages have no link. */
  readonly publicUrl?: string | undefined;
  /** Whether the guides need a token where one is set. */
  readonly docs: 'public' | 'token';
  readonly tokens: readonly NamedToken[];
  readonly trustedProxy: TrustedProxy | undefined;
}

export interface NamedToken {
  readonly name: string;
  readonly role: 'viewer' | 'operator' | 'metrics';
  readonly token: Secret;
}
