import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { Lateness } from '../../rollout/messages/daemon-health.ts';
import type { RolloutEvent } from '../../rollout/model/events.ts';
import type { HoldEntry } from './fleet-register.ts';

/** Takes what happened: log, metrics, notifications. Never throws. */
export interface EventSink {
  report(event: RolloutEvent): void;
  /** Things that belong to no rollout. */
  note(note: DaemonNote): void;
}

export type DaemonNote =
  | ({ readonly policy?: string } & HoldEntry)
  | { readonly event: 'scan.finished'; readonly policy: string; readonly result: string }
  /** `error`: it did not come to a result at all. */
  | {
      readonly event: 'scan.failed';
      readonly policy: string;
      readonly reason: string;
      readonly error?: unknown;
    }
  /** Something of ours in Redis is unreadable, and is left out where it is one of many; reported once by each daemon. */
  | { readonly event: 'record.broken'; readonly reason: string }
  /** A newer upwave has written it, so this daemon leaves its rollout alone; reported once by each daemon. */
  | { readonly event: 'record.newer'; readonly reason: string }
  | { readonly event: 'leader.acquired' | 'leader.lost' }
  /** A scrape could not read what only the leader exposes, so that its series are missing; and could again. */
  | { readonly event: 'metrics.incomplete'; readonly error: unknown }
  | { readonly event: 'metrics.complete' }
  | { readonly event: 'redis.unreachable' | 'redis.reachable'; readonly reason: string }
  /**
   * It is there, and refuses writes: no memory, no disk, a replica, a Cluster that is not whole. Reported once, by each daemon,
   * when it learns of it.
   */
  | { readonly event: 'redis.unwritable' | 'redis.writable'; readonly reason: string }
  /**
   * It is there, and something of ours fails at it, which no waiting repairs: a key of another type, a bug. Reported when it
   * begins, and when it works again.
   */
  | { readonly event: 'redis.fault' | 'redis.faultOver'; readonly reason: string }
  /**
   * It is there, and refuses to our user what no work is done without. Reported by each daemon when that changes. `rights`: as
   * `ACL SETUSER` takes them.
   */
  | { readonly event: 'redis.forbidden'; readonly rights: readonly string[]; readonly reason: string }
  | { readonly event: 'redis.allowed'; readonly reason: string }
  | { readonly event: 'redis.risk'; readonly reason: string }
  | {
      /**
       * `policy.orphaned`: reported at start, for each running rollout whose policy is not in the config.
       * `rollout.foreign`: it is left alone, since it belongs to another account; reported once for each finding.
       * `report.written`: the report of an ended rollout is in its directory; `reason` is its path.
       */
      readonly event: 'policy.orphaned' | 'rollout.foreign' | 'report.written';
      readonly policy: string;
      readonly rollout: string;
      readonly reason: string;
    }
  /** Living daemons disagree about a policy, and ours is the older config, or the newest; or they agree again. */
  | {
      readonly event: 'config.outdated' | 'config.differs' | 'config.agreed';
      readonly policy: string;
      readonly reason: string;
    }
  /** The config was read again: what differs. Or it has mistakes, and nothing was changed. */
  | { readonly event: 'config.reloaded'; readonly by: string; readonly at: EpochMs; readonly reason: string }
  | { readonly event: 'config.refused'; readonly by: string; readonly reason: string }
  /** It holds nothing of what it held. Reported once, by each daemon that knew it before. */
  | { readonly event: 'redis.emptied'; readonly reason: string }
  /** Reported once, by each daemon, when it learns of it. */
  | { readonly event: 'service.down' | 'service.up'; readonly reason: string }
  /** A redirect to an allowed host was followed; reported once for each address, which carries no credentials. */
  | { readonly event: 'service.moved'; readonly baseUrl: string }
  /** Collectors that no plan adds, because their identity is unreadable; reported when their number changes. */
  | { readonly event: 'inventory.incomplete'; readonly reason: string }
  /** Found at a daemon's start: all wait for a pause that was started before it. */
  | { readonly event: 'service.paused'; readonly reason: string; readonly pauseMs: DurationMs }
  | { readonly event: 'service.throttled'; readonly reason: '429' | '401'; readonly pauseMs: DurationMs }
  | {
      readonly event: 'step.failed';
      readonly rollout: string;
      readonly collectorId: number;
      readonly error: unknown;
    }
  | { readonly event: 'reconcile.failed'; readonly rollout: string; readonly error: unknown }
  /** `backgroundTask`: which, by its key; it is asked for again. */
  | { readonly event: 'backgroundTask.failed'; readonly backgroundTask: string; readonly error: unknown }
  /** The service did not answer what was asked for a rollout as a whole; it is asked again. */
  | { readonly event: 'poll.failed'; readonly rollout: string; readonly reason: string }
  | {
      readonly event: 'notification.sent';
      readonly receiver: string;
      readonly policy: string;
      readonly notice: string;
    }
  /** It is tried again. `failures`: in a row, of this receiver. */
  | {
      readonly event: 'notification.failed';
      readonly receiver: string;
      readonly reason: string;
      readonly failures: number;
    }
  | { readonly event: 'notification.recovered'; readonly receiver: string }
  /** The receiver refused it, or took nothing for too long. */
  | {
      readonly event: 'notification.dropped';
      readonly receiver: string;
      readonly policy: string;
      readonly notice: string;
      readonly reason: string;
    }
  /** Too many wait: the oldest had to go. */
  | { readonly event: 'notification.pushedOut'; readonly messages: number }
  /** It is tried again. `failures`: in a row. */
  | {
      readonly event: 'report.failed';
      readonly policy: string;
      readonly rollout: string;
      readonly reason: string;
      readonly failures: number;
    }
  | { readonly event: 'report.recovered'; readonly reason: string }
  /** This process gets to its work late again and again: too little CPU, or a slow Redis. Reported now and then. */
  | { readonly event: 'daemon.starved'; readonly late: Lateness }
  | { readonly event: 'daemon.started' | 'daemon.stopping' | 'daemon.stopped'; readonly detail: string };
