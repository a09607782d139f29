import { assertNever } from '../base/assert.ts';
import type { DaemonNote, EventSink } from '../orchestrator/ports/event-sink.ts';
import type { HoldEntry } from '../orchestrator/ports/fleet-register.ts';
import type { RolloutEvent, RolloutEventName } from '../rollout/model/events.ts';
import { countEvent } from './event-counts.ts';
import type { LogFields, Logger, LogLevel } from './logger.ts';
import type { Metrics } from './metrics.ts';

/**
 * The level of each event. `error` is for what stays broken until a person acts: an upgrade
 * that ended badly, a rollout that stands still.
 */
export const eventLevels: Readonly<Record<RolloutEventName, LogLevel>> = {
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
  /** Other projections, e.g. notifications. A failure of one is logged and touches nothing else. */
  readonly alsoReport?: readonly ((event: RolloutEvent) => void)[];
}

/** Projects what happens to log, metrics and whatever else listens. Never throws: a full disk stops no upgrade. */
export function makeEventSink(parts: EventSinkParts): EventSink {
  const { logger, metrics, alsoReport = [] } = parts;
  const project = (projection: () => void) => {
    try {
      projection();
    } catch (error) {
      report(logger, error);
    }
  };
  return {
    tell: (event) => {
      project(() => logEvent(logger, event));
      project(() => countEvent(metrics, event));
      for (const tell of alsoReport) project(() => tell(event));
    },
    note: (note) => {
      project(() => {
        const { level, fields } = noteLine(note);
        logger.write(level, fields);
      });
      project(() => countNote(metrics, note));
    },
  };
}

function logEvent(logger: Logger, event: RolloutEvent): void {
  // Events from an older or newer daemon's store may bear names of their own (P13).
  const level = Object.hasOwn(eventLevels, event.event) ? eventLevels[event.event] : 'info';
  // Named one by one: what an event may hold in future is not printed before somebody has thought about it.
  logger.write(level, {
    event: event.event,
    policy: event.policy,
    rollout: event.rollout,
    ...(event.wave !== undefined && { wave: event.wave }),
    ...(event.collectorId !== undefined && { collectorId: event.collectorId }),
    ...(event.collectorName !== undefined && { collectorName: event.collectorName }),
    ...(event.taskId !== undefined && { taskId: event.taskId }),
    ...(event.attempt !== undefined && { attempt: event.attempt }),
    ...(event.reason !== '' && { reason: event.reason }),
    by: event.by,
    ...(event.failureClass !== undefined && { failureClass: event.failureClass }),
    ...(event.durationMs !== undefined && { durationMs: event.durationMs }),
  });
}

/** A note as a line of the log. */
function noteLine(note: DaemonNote): { readonly level: LogLevel; readonly fields: LogFields } {
  const { event } = note;
  switch (note.event) {
    case 'scan.finished':
      return { level: 'info', fields: { event, policy: note.policy, reason: note.result } };
    case 'inventory.incomplete':
      return { level: 'warn', fields: { event, reason: note.reason } };
    case 'scan.failed': {
      const { policy, reason, error } = note;
      return error === undefined
        ? { level: 'warn', fields: { event, policy, reason } }
        : { level: 'error', fields: { event, policy, reason, error } };
    }
    case 'record.newer':
      return { level: 'warn', fields: { event, reason: note.reason } };
    case 'record.broken':
      return { level: 'error', fields: { event, reason: note.reason } };
    case 'poll.failed':
      return { level: 'warn', fields: { event, rollout: note.rollout, reason: note.reason } };
    case 'build.held':
    case 'build.released':
    case 'collector.held':
    case 'collector.released':
      return auditLine(note);
    case 'metrics.incomplete':
      return { level: 'warn', fields: { event, error: note.error } };
    case 'leader.acquired':
    case 'leader.lost':
    case 'metrics.complete':
      return { level: 'info', fields: { event } };
    case 'redis.unreachable':
    case 'redis.risk':
      return { level: 'warn', fields: { event, reason: note.reason } };
    case 'policy.orphaned': {
      const { policy, rollout, reason } = note;
      return { level: 'warn', fields: { event, policy, rollout, reason } };
    }
    case 'config.outdated':
      return { level: 'warn', fields: { event, policy: note.policy, reason: note.reason } };
    case 'config.differs':
    case 'config.agreed':
      return { level: 'info', fields: { event, policy: note.policy, reason: note.reason } };
    case 'config.reloaded':
      return { level: 'info', fields: { event, by: note.by, reason: note.reason } };
    case 'config.refused': {
      const reason = `The config file has mistakes, and nothing was changed. ${note.reason}`;
      return { level: 'error', fields: { event, by: note.by, reason } };
    }
    case 'rollout.foreign': {
      const { policy, rollout, reason } = note;
      return { level: 'error', fields: { event, policy, rollout, reason } };
    }
    case 'redis.unwritable':
    case 'redis.fault':
    case 'redis.forbidden':
    case 'redis.emptied':
      return { level: 'error', fields: { event, reason: note.reason } };
    case 'redis.reachable':
    case 'redis.faultOver':
    case 'redis.writable':
    case 'redis.allowed':
      return { level: 'info', fields: { event, reason: note.reason } };
    case 'service.down':
      return { level: 'warn', fields: { event, reason: note.reason } };
    case 'service.up':
      return { level: 'info', fields: { event, reason: note.reason } };
    case 'service.moved': {
      const reason = `This account is served at ${note.baseUrl}, which is used from now on: set service.baseUrl to it.`;
      return { level: 'warn', fields: { event, reason } };
    }
    case 'service.paused':
    case 'service.throttled':
      return { level: 'warn', fields: { event, reason: note.reason, durationMs: note.pauseMs } };
    case 'step.failed': {
      const { rollout, collectorId, error } = note;
      return { level: 'error', fields: { event, rollout, collectorId, error } };
    }
    case 'reconcile.failed':
      return { level: 'error', fields: { event, rollout: note.rollout, error: note.error } };
    case 'backgroundTask.failed':
      return { level: 'error', fields: { event, reason: note.backgroundTask, error: note.error } };
    case 'daemon.starved': {
      const reason = `This process gets to its work late: ${note.reason}. Give it more CPU, or a shorter way to Redis and the service.`;
      return { level: 'warn', fields: { event, reason } };
    }
    case 'daemon.started':
    case 'daemon.stopping':
    case 'daemon.stopped':
      return { level: 'info', fields: { event, reason: note.detail } };
    default:
      return assertNever(note);
  }
}

/** A build that nobody but the daemon holds stays held until a person has looked. */
function auditLine(note: Extract<DaemonNote, HoldEntry>): {
  readonly level: LogLevel;
  readonly fields: LogFields;
} {
  const { event, policy, subject, by, reason } = note;
  const isCall = event === 'build.held' && by === 'daemon';
  const isBuild = event === 'build.held' || event === 'build.released';
  return {
    level: isCall ? 'error' : 'info',
    fields: {
      event,
      ...(policy !== undefined && { policy }),
      ...(isBuild ? { build: subject } : { collectorId: Number(subject) }),
      reason,
      by,
    },
  };
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
}

/** The log itself may be what is broken: then there is nobody left to tell. */
function report(logger: Logger, error: unknown): void {
  try {
    logger.write('error', { event: 'projection.failed', error });
  } catch {
    // Told nowhere: see above.
  }
}
