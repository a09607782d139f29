import type { DaemonNote, EventSink } from '../orchestrator/ports/event-sink.ts';
import type { HoldEntry } from '../orchestrator/ports/fleet-register.ts';
import { latenessWords } from '../rollout/messages/daemon-health.ts';
import type { RolloutEvent, RolloutEventName } from '../rollout/model/events.ts';
import type { LogFields, Logger, LogLevel } from './logger.ts';
import type { Metrics } from './metrics.ts';
import { countEvent } from './upgrade-metrics.ts';

/**
 * The level of each event. `error` is for problems that last until a person acts, such as a failed upgrade or a held
 * rollout.
 */
const eventLevels: Readonly<Record<RolloutEventName, LogLevel>> = {
  'rollout.planned': 'info',
  'rollout.awaitingApproval': 'info',
  'rollout.running': 'info',
  'rollout.held': 'error',
  'rollout.paused': 'info',
  'rollout.resumed': 'info',
  'rollout.approved': 'info',
  'rollout.drifted': 'warn',
  'rollout.joined': 'info',
  'rollout.reopened': 'info',
  'rollout.tied': 'info',
  'rollout.policyChanged': 'info',
  'rollout.windowsLifted': 'info',
  'rollout.rollingBack': 'warn',
  'rollout.succeeded': 'info',
  'rollout.finishedWithFailures': 'error',
  'rollout.aborted': 'info',
  'rollout.rolledBack': 'info',
  'rollout.superseded': 'info',
  'inventory.doubted': 'warn',
  'inventory.trusted': 'info',
  'wave.awaitingApproval': 'info',
  'wave.approved': 'info',
  'wave.opened': 'info',
  'wave.soaking': 'info',
  'wave.soakSkipped': 'info',
  'wave.passed': 'info',
  'gate.changed': 'info',
  'stratum.held': 'error',
  'stratum.released': 'info',
  'upgrade.pending': 'debug',
  'upgrade.queued': 'debug',
  'upgrade.starting': 'debug',
  'upgrade.upgrading': 'info',
  'upgrade.verifying': 'debug',
  'upgrade.retrying': 'warn',
  'upgrade.deferred': 'warn',
  'upgrade.succeeded': 'info',
  'upgrade.failed': 'error',
  'upgrade.timedOut': 'error',
  'upgrade.unconfirmed': 'error',
  'upgrade.withdrawn': 'info',
  'upgrade.rolledBack': 'info',
};

export interface EventSinkParts {
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Projects events to log and metrics. Never throws: a full disk must not stop an upgrade. */
export function makeEventSink({ logger, metrics }: EventSinkParts): EventSink {
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
      project(() => countEvent(metrics, event));
    },
    note: (note) => {
      project(() => logNote(logger, note));
      project(() => countNote(metrics, note));
    },
  };
}

function logEvent(logger: Logger, event: RolloutEvent): void {
  // Events that an older or newer daemon stored may have unknown names (P13).
  const level = Object.hasOwn(eventLevels, event.event) ? eventLevels[event.event] : 'info';
  // Listed one by one, so that a new field is printed only after someone added it here.
  const { policy, rollout, wave, collectorId, collectorName, taskId, attempt, reason, reasonKind, by } =
    event;
  logger.write(level, {
    event: event.event,
    ...{ policy, rollout, wave, collectorId, collectorName, taskId, attempt },
    reason: reason || undefined,
    ...{ reasonKind, by, failureClass: event.failureClass, durationMs: event.durationMs },
  });
}

/** The level of each note: `error` for problems that last until a person acts, `warn` for those that heal by themselves. */
const noteLevels: Readonly<Record<DaemonNote['event'], LogLevel>> = {
  'scan.finished': 'info',
  'scan.failed': 'warn',
  'poll.failed': 'warn',
  'step.failed': 'error',
  'reconcile.failed': 'error',
  'backgroundTask.failed': 'error',
  'inventory.incomplete': 'warn',
  'record.newer': 'warn',
  'record.broken': 'error',
  'build.held': 'info',
  'build.released': 'info',
  'collector.held': 'info',
  'collector.released': 'info',
  'metrics.incomplete': 'warn',
  'metrics.complete': 'info',
  'leader.acquired': 'info',
  'leader.lost': 'info',
  'policy.orphaned': 'warn',
  'rollout.foreign': 'error',
  'config.outdated': 'warn',
  'config.differs': 'info',
  'config.agreed': 'info',
  'config.reloaded': 'info',
  'config.refused': 'error',
  'redis.unreachable': 'warn',
  'redis.reachable': 'info',
  'redis.unwritable': 'error',
  'redis.writable': 'info',
  'redis.fault': 'error',
  'redis.faultOver': 'info',
  'redis.forbidden': 'error',
  'redis.allowed': 'info',
  'redis.risk': 'warn',
  'redis.emptied': 'error',
  'service.down': 'warn',
  'service.up': 'info',
  'service.moved': 'warn',
  'service.paused': 'warn',
  'service.throttled': 'warn',
  'notification.sent': 'info',
  'notification.failed': 'warn',
  'notification.recovered': 'info',
  'notification.dropped': 'error',
  'notification.pushedOut': 'error',
  'report.written': 'info',
  'report.failed': 'error',
  'report.recovered': 'info',
  'daemon.starved': 'warn',
  'daemon.started': 'info',
  'daemon.stopping': 'info',
  'daemon.stopped': 'info',
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
  return noteLevels[note.event];
}

function reasonOf(note: DaemonNote): string | undefined {
  switch (note.event) {
    case 'scan.finished':
      return note.result;
    case 'backgroundTask.failed':
      return note.backgroundTask;
    case 'config.refused':
      return `The config file has mistakes, and nothing was changed. ${note.reason}`;
    case 'service.moved':
      return `This account is served at ${note.baseUrl}, which is now used. Set service.baseUrl to it.`;
    case 'notification.pushedOut':
      return `Too many messages are waiting for their receivers. The ${note.messages} oldest were dropped.`;
    case 'daemon.starved':
      return `This process is falling behind: ${latenessWords(note.late)}. Give it more CPU, or a faster connection to Redis and the service.`;
    case 'daemon.started':
    case 'daemon.stopping':
    case 'daemon.stopped':
      return note.detail;
    default:
      return 'reason' in note ? note.reason : undefined;
  }
}

function subjectOf({ event, subject }: HoldEntry): Pick<LogFields, 'build' | 'collectorId'> {
  const isBuild = event === 'build.held' || event === 'build.released';
  return isBuild ? { build: subject } : { collectorId: Number(subject) };
}

function countNote(metrics: Metrics, note: DaemonNote): void {
  if (note.event === 'leader.acquired') metrics.setLeader('leading');
  if (note.event === 'leader.lost') metrics.setLeader('following');
  if (note.event === 'service.down') metrics.setService('down');
  if (note.event === 'service.up') metrics.setService('up');
  if (note.event === 'redis.reachable') metrics.setRedis('up');
  if (note.event === 'redis.unreachable') metrics.setRedis('down');
  if (note.event === 'redis.emptied') metrics.redisEmptied();
  if (note.event === 'config.outdated') metrics.setConfig(note.policy, 'outdated');
  if (note.event === 'config.differs' || note.event === 'config.agreed')
    metrics.setConfig(note.policy, 'newest');
  if (note.event === 'config.reloaded') metrics.configRead({ kind: 'good', at: note.at });
  if (note.event === 'config.refused') metrics.configRead({ kind: 'bad' });
  if (note.event === 'redis.forbidden') metrics.setRedisRefusals(note.rights);
  if (note.event === 'redis.allowed') metrics.setRedisRefusals([]);
  if (note.event === 'service.throttled') metrics.apiThrottled(note.reason);
  if (note.event === 'notification.sent') metrics.notified('sent', 1);
  if (note.event === 'notification.failed') metrics.notified('failed', 1);
  if (note.event === 'notification.dropped') metrics.notified('dropped', 1);
  if (note.event === 'notification.pushedOut') metrics.notified('dropped', note.messages);
  if (note.event === 'report.written') metrics.reportEnded('written');
  if (note.event === 'report.failed') metrics.reportEnded('failed');
}

/** Reports a failed projection. When the log itself is broken, there is no place to report it. */
function reportFault(logger: Logger, error: unknown): void {
  try {
    logger.write('error', { event: 'projection.failed', error });
  } catch {
    // There is no place to report it.
  }
}
