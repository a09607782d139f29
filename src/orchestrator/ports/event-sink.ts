import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { Lateness } from '../../rollout/messages/daemon-health.ts';
import type { RolloutEvent } from '../../rollout/model/events.ts';
import type { HoldEntry } from './fleet-register.ts';

/** Receives events for log, metrics and notifications. Never throws. */
export interface EventSink {
  report(event: RolloutEvent): void;
  /** Notes that belong to no rollout. */
  note(note: DaemonNote): void;
}

export type DaemonNote =
  | ({ readonly policy?: string } & HoldEntry)
  | { readonly event: 'scan.finished'; readonly policy: string; readonly result: string }
  /** `error`: the scan got no result. */
  | {
      readonly event: 'scan.failed';
      readonly policy: string;
      readonly reason: string;
      readonly error?: unknown;
    }
  /** A record in Redis is unreadable, and is left out of lists. Each daemon reports it once. */
  | { readonly event: 'record.broken'; readonly reason: string }
  /** A newer upwave wrote the record, so this daemon leaves its rollout alone. Each daemon reports it once. */
  | { readonly event: 'record.newer'; readonly reason: string }
  | { readonly event: 'leader.acquired' | 'leader.lost' }
  /** A scrape could not read the shared state, and its series are missing; or it could read it again. */
  | { readonly event: 'metrics.incomplete'; readonly error: unknown }
  | { readonly event: 'metrics.complete' }
  | { readonly event: 'redis.unreachable' | 'redis.reachable'; readonly reason: string }
  /**
   * Redis answers, but refuses writes: no memory, no disk, a replica, an incomplete Cluster. Each daemon reports it once, when
   * it learns of it.
   */
  | { readonly event: 'redis.unwritable' | 'redis.writable'; readonly reason: string }
  /**
   * Redis answers, but a command of ours fails for a reason that does not heal by itself: a key of another type, a bug.
   * Reported when it starts, and when it works again.
   */
  | { readonly event: 'redis.fault' | 'redis.faultOver'; readonly reason: string }
  /**
   * Redis answers, but refuses our user a right that every daemon needs. Each daemon reports changes. `rights`: in the syntax
   * of `ACL SETUSER`.
   */
  | { readonly event: 'redis.forbidden'; readonly rights: readonly string[]; readonly reason: string }
  | { readonly event: 'redis.allowed'; readonly reason: string }
  | { readonly event: 'redis.risk'; readonly reason: string }
  /** This host's clock and Redis's differ by more than ten seconds, so this daemon stops working; or they agree again. */
  | { readonly event: 'clock.wrong' | 'clock.right'; readonly reason: string }
  | {
      /**
       * `policy.orphaned`: reported at start, for each running rollout whose policy is not in the config.
       * `rollout.foreign`: not worked on, because it belongs to another account; reported once for each finding.
       * `report.written`: the report of an ended rollout is in its directory; `reason` is its path.
       */
      readonly event: 'policy.orphaned' | 'rollout.foreign' | 'report.written';
      readonly policy: string;
      readonly rollout: string;
      readonly reason: string;
    }
  /** The running daemons have different configs of a policy, and ours is older, or the newest; or they agree again. */
  | {
      readonly event: 'config.outdated' | 'config.differs' | 'config.agreed';
      readonly policy: string;
      readonly reason: string;
    }
  /** The running daemons have different configs outside of the policies, such as receivers; or they agree again. */
  | { readonly event: 'config.settingsDiffer' | 'config.settingsAgree'; readonly reason: string }
  /** The config was read again, with its differences; or it has mistakes, and nothing was changed. */
  | { readonly event: 'config.reloaded'; readonly by: string; readonly at: EpochMs; readonly reason: string }
  | { readonly event: 'config.refused'; readonly by: string; readonly reason: string }
  /** Redis has lost its data. Each daemon that knew the data reports it once. */
  | { readonly event: 'redis.emptied'; readonly reason: string }
  /** Each daemon reports it once, when it learns of it. */
  | { readonly event: 'service.down' | 'service.up'; readonly reason: string }
  /** A redirect to an allowed host was followed; reported once for each address, which carries no credentials. */
  | { readonly event: 'service.moved'; readonly baseUrl: string }
  /** Requests go through a proxy of the environment; reported once for each, without credentials. */
  | { readonly event: 'service.proxied'; readonly proxy: string }
  /** Collectors that no plan includes, because their rows are unreadable. Reported when their number changes. */
  | { readonly event: 'inventory.incomplete'; readonly reason: string }
  /** At its start the daemon found a pause of the API budget that began earlier. */
  | { readonly event: 'service.paused'; readonly reason: string; readonly pauseMs: DurationMs }
  | { readonly event: 'service.throttled'; readonly reason: '429' | '401'; readonly pauseMs: DurationMs }
  | {
      readonly event: 'step.failed';
      readonly rollout: string;
      readonly collectorId: number;
      readonly error: unknown;
    }
  | { readonly event: 'reconcile.failed'; readonly rollout: string; readonly error: unknown }
  /** `backgroundTask`: its key. The next decision requests it again. */
  | { readonly event: 'backgroundTask.failed'; readonly backgroundTask: string; readonly error: unknown }
  /** A request for a whole rollout got no answer. It is repeated. */
  | { readonly event: 'poll.failed'; readonly rollout: string; readonly reason: string }
  | {
      readonly event: 'notification.sent';
      readonly receiver: string;
      readonly policy: string;
      readonly notice: string;
    }
  /** The message is retried. `failures`: how many in a row for this receiver. */
  | {
      readonly event: 'notification.failed';
      readonly receiver: string;
      readonly reason: string;
      readonly failures: number;
    }
  | { readonly event: 'notification.recovered'; readonly receiver: string }
  /** The receiver refused the message, or accepted none for too long. */
  | {
      readonly event: 'notification.dropped';
      readonly receiver: string;
      readonly policy: string;
      readonly notice: string;
      readonly reason: string;
    }
  /** Too many messages wait, so the oldest were dropped. */
  | { readonly event: 'notification.pushedOut'; readonly messages: number }
  /** The report is retried. `failures`: how many in a row. */
  | {
      readonly event: 'report.failed';
      readonly policy: string;
      readonly rollout: string;
      readonly reason: string;
      readonly failures: number;
    }
  | { readonly event: 'report.recovered'; readonly reason: string }
  /** This process repeatedly does its work late: too little CPU, or a slow Redis. Reported at intervals. */
  | { readonly event: 'daemon.starved'; readonly late: Lateness }
  | { readonly event: 'daemon.started' | 'daemon.stopping' | 'daemon.stopped'; readonly detail: string };
