import type { DaemonNote, EventSink } from '../orchestrator/ports/event-sink.ts';
import type { HoldEntry } from '../orchestrator/ports/fleet-register.ts';
import { latenessText } from '../rollout/messages/daemon-health.ts';
import type { RolloutEvent, RolloutEventName } from '../rollout/model/events.ts';
import type { LogFields, Logger, LogLevel } from './logger.ts';
import type { Metrics } from './metrics.ts';

/**
 * The level of each event that is not `info`. `error` is for problems that last until a person acts, such as a failed
 * upgrade or a held rollout.
 */
export const eventLevels: Readonly<Partial<Record<RolloutEventName, LogLevel>>> = {
  'rollout.held': 'error',
  'rollout.drifted': 'warn',
  'rollout.rollingBack': 'warn',
  'rollout.finishedWithFailures': 'error',
  'inventory.implausible': 'warn',
  'stratum.held': 'error',
  'upgrade.pending': 'debug',
  'upgrade.queued': 'debug',
  'upgrade.starting': 'debug',
  'upgrade.verifying': 'debug',
  'upgrade.retrying': 'warn',
  'upgrade.deferred': 'warn',
  'upgrade.failed': 'error',
  'upgrade.timedOut': 'error',
  'upgrade.unconfirmed': 'error',
};

/** Projects events to log and metrics. Never throws: a full disk must not stop an upgrade. */
export function makeEventSink(parts: {
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'countEvent' | 'countNote'>;
}): EventSink {
  const { logger, metrics } = parts;
  const project = (projection: () => void) => {
    try {
      projection();
    } catch (error) {
      reportFault(logger, error);
    }
  };
  return {
    report: (event) => {
      project(() => logEvent(logger, event));
      project(() => metrics.countEvent(event));
    },
    note: (note) => {
      project(() => logNote(logger, note));
      project(() => metrics.countNote(note));
    },
  };
}

function logEvent(logger: Logger, event: RolloutEvent): void {
  // Listed one by one, so that a new field is printed only after someone added it here.
  const { policy, rollout, wave, collectorId, collectorName, taskId, attempt, reason, reasonKind, by } =
    event;
  logger.write(eventLevels[event.event] ?? 'info', {
    event: event.event,
    ...{ policy, rollout, wave, collectorId, collectorName, taskId, attempt },
    reason: reason || undefined,
    ...{ reasonKind, by, failureClass: event.failureClass, durationMs: event.durationMs },
  });
}

/** The level of each note that is not `info`: `warn` is for problems that heal by themselves. */
const noteLevels: Readonly<Partial<Record<DaemonNote['event'], LogLevel>>> = {
  'scan.failed': 'warn',
  'poll.failed': 'warn',
  'step.failed': 'error',
  'reconcile.failed': 'error',
  'backgroundTask.failed': 'error',
  'inventory.incomplete': 'warn',
  'record.newer': 'warn',
  'record.broken': 'error',
  'metrics.incomplete': 'warn',
  'policy.orphaned': 'warn',
  'rollout.foreign': 'error',
  'config.outdated': 'warn',
  'config.settingsDiffer': 'warn',
  'config.refused': 'error',
  'redis.unreachable': 'warn',
  'redis.unwritable': 'error',
  'redis.fault': 'error',
  'redis.forbidden': 'error',
  'redis.risk': 'warn',
  'clock.wrong': 'error',
  'redis.emptied': 'error',
  'service.down': 'warn',
  'service.moved': 'warn',
  'service.paused': 'warn',
  'service.throttled': 'warn',
  'notification.failed': 'warn',
  'notification.dropped': 'error',
  'notification.pushedOut': 'error',
  'report.failed': 'error',
  'daemon.starved': 'warn',
};

function logNote(logger: Logger, note: DaemonNote): void {
  const reason = reasonOf(note);
  // Listed one by one, like the fields of events.
  logger.write(levelOf(note), {
    event: note.event,
    ...('policy' in note && { policy: note.policy }),
    ...('rollout' in note && { rollout: note.rollout }),
    ...('collectorId' in note && { collectorId: note.collectorId }),
    ...('subject' in note && subjectOf(note)),
    ...('receiver' in note && { receiver: note.receiver }),
    ...('notice' in note && { notice: note.notice }),
    reason,
    ...('by' in note && { by: note.by }),
    ...('pauseMs' in note && { durationMs: note.pauseMs }),
    ...('error' in note && { error: note.error }),
  });
}

function levelOf(note: DaemonNote): LogLevel {
  // The scan threw. A hold by the daemon lasts until a person acts.
  if (note.event === 'scan.failed' && note.error !== undefined) return 'error';
  if (note.event === 'build.held' && note.by === 'daemon') return 'error';
  // Later notes repeat the first one.
  if (note.event === 'notification.failed' && note.failures > 1) return 'debug';
  if (note.event === 'report.failed' && note.failures > 1) return 'debug';
  return noteLevels[note.event] ?? 'info';
}

function reasonOf(note: DaemonNote): string | undefined {
  switch (note.event) {
    case 'scan.finished':
      return note.result;
    case 'backgroundTask.failed':
      return note.backgroundTask;
    case 'config.refused':
      return `The config file has errors, and nothing was changed. ${note.reason}`;
    case 'service.moved':
      return `This account is served at ${note.baseUrl}, which is now used. Set baseUrl in the config to it.`;
    case 'service.proxied':
      return `Requests to the service go through the proxy ${note.proxy}.`;
    case 'notification.pushedOut':
      return `Too many messages are waiting for their receivers. The ${note.messages} oldest were dropped.`;
    case 'daemon.starved':
      return `This process is falling behind: ${latenessText(note.late)}. Give it more CPU, or a faster connection to Redis and the service.`;
    case 'daemon.started':
    case 'daemon.stopping':
    case 'daemon.stopped':
      return note.detail;
    default:
      return 'reason' in note ? note.reason : undefined;
  }
}

function subjectOf({ event, subject }: HoldEntry): Pick<LogFields, 'build' | 'collectorId' | 'group'> {
  switch (event) {
    case 'build.held':
    case 'build.released':
      return { build: subject };
    case 'group.held':
    case 'group.released':
      return { group: subject };
    case 'collector.held':
    case 'collector.released':
      return { collectorId: Number(subject) };
    default:
      return event satisfies never;
  }
}

/** Reports a failed projection. When the log itself is broken, there is no place to report it. */
function reportFault(logger: Logger, error: unknown): void {
  try {
    logger.write('error', { event: 'projection.failed', error });
  } catch {
    // There is no place to report it.
  }
}
