import { describe, expect, it } from 'vitest';
import { eventLevels, makeEventSink } from '../../../src/observability/event-sink.ts';
import type { LogFields, Logger, LogLevel } from '../../../src/observability/logger.ts';
import { makeMetrics } from '../../../src/observability/metrics.ts';
import type { DaemonNote } from '../../../src/orchestrator/ports/event-sink.ts';
import type { RolloutEvent } from '../../../src/rollout/model/events.ts';
import { rolloutStates } from '../../../src/rollout/model/rollout.ts';
import { upgradeStates } from '../../../src/rollout/model/upgrade.ts';
import { aRolloutEvent } from '../../support/fake-operations.ts';

function aSink(broken: { logger?: boolean; alsoReport?: boolean } = {}) {
  const written: { level: LogLevel; fields: LogFields }[] = [];
  const told: RolloutEvent[] = [];
  const logger: Logger = {
    write: (level, fields) => {
      if (broken.logger === true) throw new Error('the disk is full');
      written.push({ level, fields });
    },
  };
  const metrics = makeMetrics({ version: '1.2.3', policies: ['production'], sharedState: async () => null });
  const sink = makeEventSink({
    logger,
    metrics,
    alsoReport: [
      (event) => {
        if (broken.alsoReport === true) throw new Error('the webhook is broken');
        told.push(event);
      },
    ],
  });
  const count = async (text: string) => {
    const { body } = await metrics.expose();
    const line = body.split('\n').find((candidate) => candidate.startsWith(text));
    return line === undefined ? undefined : Number(line.split(' ').at(-1));
  };
  return { sink, written, told, count };
}

describe('makeEventSink', () => {
  it('logs an event with its fields, and only those present', () => {
    const { sink, written } = aSink();
    const event = aRolloutEvent({
      collectorId: 7,
      collectorName: 'web-7',
      taskId: '99',
      attempt: 2,
      wave: 'canary',
    });
    sink.tell(event);
    const { at: _at, ...fields } = event;
    expect(written).toEqual([{ level: 'info', fields }]);
  });

  it('calls for a person when something stays broken, and only then', () => {
    const { sink, written } = aSink();
    for (const event of ['rollout.held', 'stratum.held', 'upgrade.unconfirmed', 'upgrade.failed'] as const) {
      sink.tell(aRolloutEvent({ event }));
    }
    expect(written.map(({ level }) => level)).toEqual(['error', 'error', 'error', 'error']);
    written.length = 0;
    const passing = [
      'upgrade.retrying',
      'upgrade.deferred',
      'rollout.rollingBack',
      'rollout.drifted',
    ] as const;
    for (const event of passing) sink.tell(aRolloutEvent({ event }));
    expect(written.map(({ level }) => level)).toEqual(['warn', 'warn', 'warn', 'warn']);
    written.length = 0;
    const plain = ['rollout.approved', 'rollout.joined', 'wave.soakSkipped', 'stratum.released'] as const;
    for (const event of plain) sink.tell(aRolloutEvent({ event }));
    expect(written.map(({ level }) => level)).toEqual(['info', 'info', 'info', 'info']);
  });

  it('counts verbs and the steps of waves by name, and upgrades not among them', async () => {
    const { sink, count } = aSink();
    for (const event of ['wave.opened', 'rollout.paused', 'upgrade.upgrading'] as const)
      sink.tell(aRolloutEvent({ event }));
    const counted = (event: string) =>
      count(`upwave_rollout_events_total{policy="production",event="${event}"}`);
    expect(await counted('wave.opened')).toBe(1);
    expect(await counted('rollout.paused')).toBe(1);
    expect(await counted('rollout.aborted')).toBe(0);
    expect(await counted('upgrade.upgrading')).toBeUndefined();
  });

  it('knows a level for every state that can be reached', () => {
    for (const state of rolloutStates) expect(eventLevels[`rollout.${state}`]).toBeDefined();
    for (const state of upgradeStates) expect(eventLevels[`upgrade.${state}`]).toBeDefined();
  });

  it('logs an event whose name it does not know', () => {
    const { sink, written } = aSink();
    sink.tell({ ...aRolloutEvent(), event: 'wave.evaporated' } as unknown as RolloutEvent);
    expect(written.map(({ level, fields }) => [level, fields.event])).toEqual([['info', 'wave.evaporated']]);
  });

  it('counts outcomes with their duration and the delay until they were seen', async () => {
    const { sink, count } = aSink();
    sink.tell(aRolloutEvent({ durationMs: 240_000, seenDelayMs: 3_000 }));
    sink.tell(aRolloutEvent({ event: 'upgrade.failed', failureClass: 'permanent' }));
    sink.tell(aRolloutEvent({ event: 'rollout.succeeded' }));
    expect(await count('upwave_upgrade_outcomes_total{policy="production",outcome="succeeded"}')).toBe(1);
    expect(await count('upwave_upgrade_outcomes_total{policy="production",outcome="failed"}')).toBe(1);
    expect(await count('upwave_upgrade_duration_seconds_sum{policy="production"}')).toBe(240);
    expect(await count('upwave_outcome_seen_delay_seconds_sum')).toBe(3);
  });

  it('counts attempts by the class that ended them', async () => {
    const { sink, count } = aSink();
    sink.tell(aRolloutEvent({ event: 'upgrade.upgrading' }));
    sink.tell(aRolloutEvent({ event: 'upgrade.retrying', failureClass: 'retry' }));
    sink.tell(aRolloutEvent({ event: 'upgrade.retrying' }));
    sink.tell(aRolloutEvent({ event: 'upgrade.failed', failureClass: 'permanent' }));
    sink.tell(aRolloutEvent({ event: 'upgrade.timedOut' }));
    sink.tell(aRolloutEvent({ event: 'upgrade.succeeded' }));
    sink.tell(aRolloutEvent({ event: 'upgrade.failed', failureClass: 'made up' }));
    const attempts = (name: string) =>
      count(`upwave_upgrade_attempts_total{policy="production",class="${name}"}`);
    expect(await Promise.all(['retry', 'permanent', 'timedOut', 'succeeded', 'other'].map(attempts))).toEqual(
      [1, 1, 1, 1, 1],
    );
  });

  it('logs every note of the daemon, and counts those that have a metric', async () => {
    const { sink, written, count } = aSink();
    const notes: DaemonNote[] = [
      { event: 'scan.finished', policy: 'production', result: 'nothing to do' },
      { event: 'scan.failed', policy: 'production', reason: 'the service does not answer' },
      { event: 'scan.failed', policy: 'production', reason: 'it broke', error: new Error('a bug') },
      { event: 'record.broken', reason: 'the record of collector 7' },
      { event: 'leader.acquired' },
      { event: 'redis.unreachable', reason: 'ECONNREFUSED' },
      { event: 'redis.reachable', reason: 'after 4s' },
      { event: 'redis.unwritable', reason: 'OOM command not allowed' },
      { event: 'redis.writable', reason: 'redis://127.0.0.1:6379' },
      { event: 'metrics.incomplete', error: new Error('no answer within 3 s') },
      { event: 'metrics.complete' },
      { event: 'redis.fault', reason: 'the leader lease: WRONGTYPE' },
      { event: 'redis.faultOver', reason: 'the leader lease' },
      { event: 'redis.risk', reason: 'no append-only file' },
      { event: 'policy.orphaned', policy: 'first', rollout: 'first-20260302-1', reason: 'it stands still' },
      { event: 'redis.emptied', reason: 'what was kept there is gone' },
      { event: 'service.throttled', reason: '429', pauseMs: 5_000 },
      { event: 'service.paused', reason: 'the service asked for a pause', pauseMs: 5_000 },
      { event: 'service.down', reason: 'getCollector: answered 503.' },
      { event: 'service.up', reason: 'it answers again' },
      { event: 'service.moved', baseUrl: 'https://eu.example.com/api' },
      { event: 'inventory.incomplete', reason: '1 collector has no id that can be read' },
      { event: 'step.failed', rollout: 'r', collectorId: 7, error: new Error('a bug') },
      { event: 'reconcile.failed', rollout: 'r', error: 'a bug' },
      { event: 'backgroundTask.failed', backgroundTask: 'r/soak/0', error: 'a bug' },
      { event: 'poll.failed', rollout: 'r', reason: 'the service does not answer' },
      { event: 'daemon.starved', reason: 'a create could not leave in time' },
      { event: 'daemon.started', detail: '0.1.0' },
    ];
    for (const note of notes) sink.note(note);
    expect(written.map(({ level, fields }) => `${level} ${fields.event}`)).toEqual([
      'info scan.finished',
      'warn scan.failed',
      'error scan.failed',
      'error record.broken',
      'info leader.acquired',
      'warn redis.unreachable',
      'info redis.reachable',
      'error redis.unwritable',
      'info redis.writable',
      'warn metrics.incomplete',
      'info metrics.complete',
      'error redis.fault',
      'info redis.faultOver',
      'warn redis.risk',
      'warn policy.orphaned',
      'error redis.emptied',
      'warn service.throttled',
      'warn service.paused',
      'warn service.down',
      'info service.up',
      'warn service.moved',
      'warn inventory.incomplete',
      'error step.failed',
      'error reconcile.failed',
      'error backgroundTask.failed',
      'warn poll.failed',
      'warn daemon.starved',
      'info daemon.started',
    ]);
    expect(await count('upwave_leader')).toBe(1);
    expect(await count('upwave_api_throttled_total{reason="429"}')).toBe(1);
    sink.note({ event: 'leader.lost' });
    expect(await count('upwave_leader')).toBe(0);
    expect(written.find(({ fields }) => fields.event === 'service.moved')?.fields.reason).toContain(
      'https://eu.example.com/api',
    );
    expect(await count('upwave_redis_emptied_total')).toBe(1);
    expect(await count('upwave_redis_up')).toBe(1);
    sink.note({ event: 'redis.unreachable', reason: 'ECONNREFUSED' });
    expect(await count('upwave_redis_up')).toBe(0);
    expect(await count('upwave_service_up')).toBe(1);
    sink.note({ event: 'service.down', reason: 'getCollector: answered 503.' });
    expect(await count('upwave_service_up')).toBe(0);
  });

  it('logs what was held and released, and calls for a person when the daemon held a build', () => {
    const { sink, written } = aSink();
    const entry = { at: 1, by: 'alice', reason: 'its disk is full' };
    sink.note({ event: 'build.held', subject: '19.536-4', ...entry });
    sink.note({ event: 'build.held', subject: '19.536-4', ...entry, by: 'daemon', policy: 'production' });
    sink.note({ event: 'build.released', subject: '19.536-4', ...entry });
    sink.note({ event: 'collector.held', subject: '7', ...entry });
    sink.note({ event: 'collector.released', subject: '7', ...entry });
    const { reason } = entry;
    expect(written).toEqual([
      { level: 'info', fields: { event: 'build.held', build: '19.536-4', reason, by: 'alice' } },
      {
        level: 'error',
        fields: { event: 'build.held', policy: 'production', build: '19.536-4', reason, by: 'daemon' },
      },
      { level: 'info', fields: { event: 'build.released', build: '19.536-4', reason, by: 'alice' } },
      { level: 'info', fields: { event: 'collector.held', collectorId: 7, reason, by: 'alice' } },
      { level: 'info', fields: { event: 'collector.released', collectorId: 7, reason, by: 'alice' } },
    ]);
  });

  it('never throws, and one broken projection leaves the others alone', async () => {
    const withoutLog = aSink({ logger: true });
    expect(() => withoutLog.sink.tell(aRolloutEvent())).not.toThrow();
    expect(() => withoutLog.sink.note({ event: 'leader.acquired' })).not.toThrow();
    expect(withoutLog.told).toHaveLength(1);
    expect(await withoutLog.count('upwave_leader')).toBe(1);
    const withoutWebhook = aSink({ alsoReport: true });
    expect(() => withoutWebhook.sink.tell(aRolloutEvent())).not.toThrow();
    expect(withoutWebhook.written.map(({ fields }) => fields.event)).toEqual([
      'upgrade.succeeded',
      'projection.failed',
    ]);
  });
});
