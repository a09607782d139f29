import { describe, expect, it } from 'vitest';
import type { LogFields, Logger, LogLevel } from '../../../src/observability/logger.ts';
import { makeEventSink } from '../../../src/observability/make-event-sink.ts';
import type { DaemonNote } from '../../../src/orchestrator/ports/event-sink.ts';
import type { RolloutEvent } from '../../../src/rollout/model/events.ts';
import { someMetrics } from '../../support/exposed-metrics.ts';
import { aRolloutEvent } from '../../support/fake-operations.ts';

function aSink(broken: { logger?: boolean; metrics?: boolean } = {}) {
  const written: { level: LogLevel; fields: LogFields }[] = [];
  const logger: Logger = {
    write: (level, fields) => {
      if (broken.logger === true) throw new Error('the disk is full');
      written.push({ level, fields });
    },
  };
  const metrics = someMetrics();
  const countEvent = (): never => {
    throw new Error('the counter is broken');
  };
  const sink = makeEventSink({
    logger,
    metrics: broken.metrics === true ? { ...metrics, countEvent } : metrics,
  });
  const count = async (text: string) => {
    const { body } = await metrics.expose();
    const line = body.split('\n').find((candidate) => candidate.startsWith(text));
    return line === undefined ? undefined : Number(line.split(' ').at(-1));
  };
  return { sink, written, count };
}

const emptied: DaemonNote = { event: 'redis.emptied', reason: '' };
const throttled: DaemonNote = { event: 'service.throttled', reason: '429', pauseMs: 5_000 };

describe('makeEventSink', () => {
  it('logs an event with its fields, and only those present', () => {
    const { sink, written } = aSink();
    const event = aRolloutEvent({
      collectorId: 7,
      collectorName: 'web-7',
      taskId: '99',
      attempt: 2,
      wave: 'canary',
      reasonKind: 'task',
    });
    sink.report(event);
    const { at: _at, ...fields } = event;
    expect(written).toEqual([{ level: 'info', fields }]);
  });

  it.each<readonly [LogLevel, string, ReadonlyArray<RolloutEvent['event']>]>([
    ['error', 'stays broken', ['rollout.held', 'stratum.held', 'upgrade.unconfirmed', 'upgrade.failed']],
    ['warn', 'heals', ['upgrade.retrying', 'upgrade.deferred', 'rollout.rollingBack', 'rollout.drifted']],
    ['info', 'is well', ['rollout.approved', 'rollout.joined', 'wave.soakSkipped', 'stratum.released']],
  ])('logs as %s what %s', (level, _what, events) => {
    const { sink, written } = aSink();
    for (const event of events) sink.report(aRolloutEvent({ event }));
    expect(written.map((each) => each.level)).toEqual(events.map(() => level));
  });

  it('counts verbs and the steps of waves by name, and upgrades not among them', async () => {
    const { sink, count } = aSink();
    for (const event of ['wave.opened', 'rollout.paused', 'upgrade.upgrading'] as const)
      sink.report(aRolloutEvent({ event }));
    const counted = (event: string) =>
      count(`upwave_rollout_events_total{policy="production",event="${event}"}`);
    expect(await counted('wave.opened')).toBe(1);
    expect(await counted('rollout.paused')).toBe(1);
    expect(await counted('rollout.aborted')).toBe(0);
    expect(await counted('upgrade.upgrading')).toBeUndefined();
  });

  it('logs an event whose name it does not know', () => {
    const { sink, written } = aSink();
    sink.report({ ...aRolloutEvent(), event: 'wave.evaporated' } as unknown as RolloutEvent);
    expect(written.map(({ level, fields }) => [level, fields.event])).toEqual([['info', 'wave.evaporated']]);
  });

  it('counts outcomes with their duration and the delay until they were seen', async () => {
    const { sink, count } = aSink();
    sink.report(aRolloutEvent({ durationMs: 240_000, seenDelayMs: 3_000 }));
    sink.report(aRolloutEvent({ event: 'upgrade.failed', failureClass: 'permanent' }));
    sink.report(aRolloutEvent({ event: 'rollout.succeeded' }));
    expect(await count('upwave_upgrade_outcomes_total{policy="production",outcome="succeeded"}')).toBe(1);
    expect(await count('upwave_upgrade_outcomes_total{policy="production",outcome="failed"}')).toBe(1);
    expect(await count('upwave_upgrade_duration_seconds_sum{policy="production"}')).toBe(240);
    expect(await count('upwave_outcome_seen_delay_seconds_sum')).toBe(3);
  });

  it('counts attempts by the class that ended them', async () => {
    const { sink, count } = aSink();
    sink.report(aRolloutEvent({ event: 'upgrade.upgrading' }));
    sink.report(aRolloutEvent({ event: 'upgrade.retrying', failureClass: 'retry' }));
    sink.report(aRolloutEvent({ event: 'upgrade.retrying' }));
    sink.report(aRolloutEvent({ event: 'upgrade.failed', failureClass: 'permanent' }));
    sink.report(aRolloutEvent({ event: 'upgrade.timedOut' }));
    sink.report(aRolloutEvent({ event: 'upgrade.succeeded' }));
    sink.report(aRolloutEvent({ event: 'upgrade.failed', failureClass: 'made up' }));
    const attempts = (name: string) =>
      count(`upwave_upgrade_attempts_total{policy="production",class="${name}"}`);
    expect(await Promise.all(['retry', 'permanent', 'timedOut', 'succeeded', 'other'].map(attempts))).toEqual(
      [1, 1, 1, 1, 1],
    );
  });

  it('counts upgrades that are put back, by reason', async () => {
    const { sink, count } = aSink();
    sink.report(aRolloutEvent({ event: 'upgrade.pending', reasonKind: 'stratumHeld' }));
    sink.report(aRolloutEvent({ event: 'upgrade.retrying', reasonKind: 'stratumHeld' }));
    sink.report(aRolloutEvent({ event: 'upgrade.retrying', reasonKind: 'task' }));
    sink.report(aRolloutEvent({ event: 'upgrade.withdrawn', reasonKind: 'rolloutOver' }));
    const of = (reason: string) =>
      count(`upwave_upgrade_put_backs_total{policy="production",reason="${reason}"}`);
    expect(await Promise.all(['stratumHeld', 'policyChanged', 'task'].map(of))).toEqual([2, 0, undefined]);
  });

  it.each<readonly [LogLevel, DaemonNote]>([
    ['info', { event: 'scan.finished', policy: 'production', result: 'nothing to do' }],
    ['warn', { event: 'scan.failed', policy: 'production', reason: 'the service does not answer' }],
    ['error', { event: 'scan.failed', policy: 'production', reason: 'it broke', error: new Error('a bug') }],
    ['error', { event: 'record.broken', reason: 'the record of collector 7' }],
    ['info', { event: 'leader.acquired' }],
    ['warn', { event: 'redis.unreachable', reason: 'ECONNREFUSED' }],
    ['error', { event: 'redis.unwritable', reason: 'OOM command not allowed' }],
    ['error', { event: 'redis.fault', reason: 'the leader lease: WRONGTYPE' }],
    ['error', { event: 'redis.emptied', reason: 'what was kept there is gone' }],
    ['warn', { event: 'policy.orphaned', policy: 'first', rollout: 'first-20260302-1', reason: 'it waits' }],
    ['warn', { event: 'service.throttled', reason: '429', pauseMs: 5_000 }],
    ['warn', { event: 'service.down', reason: 'getCollector: answered 503.' }],
    ['error', { event: 'step.failed', rollout: 'r', collectorId: 7, error: new Error('a bug') }],
    ['warn', { event: 'poll.failed', rollout: 'r', reason: 'the service does not answer' }],
  ])('logs as %s the note $event', (level, note) => {
    const { sink, written } = aSink();
    sink.note(note);
    expect(written).toMatchObject([{ level, fields: { event: note.event } }]);
  });

  it.each<readonly [metric: string, before: DaemonNote, count: number, after: DaemonNote, later: number]>([
    ['leader', { event: 'leader.acquired' }, 1, { event: 'leader.lost' }, 0],
    ['redis_up', { event: 'redis.unreachable', reason: '' }, 0, { event: 'redis.reachable', reason: '' }, 1],
    ['redis_emptied_total', emptied, 1, emptied, 2],
    ['api_throttled_total{reason="429"}', throttled, 1, throttled, 2],
  ])('counts notes in upwave_%s', async (metric, before, counted, after, later) => {
    const { sink, count } = aSink();
    sink.note(before);
    expect(await count(`upwave_${metric}`)).toBe(counted);
    sink.note(after);
    expect(await count(`upwave_${metric}`)).toBe(later);
  });

  it.each<readonly [DaemonNote, string]>([
    [{ event: 'service.moved', baseUrl: 'https://eu.example.com/api' }, 'https://eu.example.com/api'],
    [{ event: 'service.proxied', proxy: 'http://proxy.example.com:3128' }, 'http://proxy.example.com:3128'],
    [{ event: 'backgroundTask.failed', backgroundTask: 'r/soak/0', error: 'a bug' }, 'r/soak/0'],
    [{ event: 'daemon.starved', late: { kind: 'create', withinMs: 400 } }, 'Give it more CPU'],
    [{ event: 'daemon.started', detail: '0.1.0' }, '0.1.0'],
    [{ event: 'redis.risk', reason: 'no append-only file' }, 'no append-only file'],
  ])('logs with $0.event what it is about', (note, words) => {
    const { sink, written } = aSink();
    sink.note(note);
    expect(written[0]?.fields.reason).toContain(words);
  });

  it('logs what was held and released, and calls for a person when the daemon held a build', () => {
    const { sink, written } = aSink();
    const entry = { at: 1, by: 'alice', reason: 'its disk is full' };
    sink.note({ event: 'build.held', subject: '19.536-4', ...entry });
    sink.note({ event: 'build.held', subject: '19.536-4', ...entry, by: 'daemon', policy: 'production' });
    sink.note({ event: 'build.released', subject: '19.536-4', ...entry });
    sink.note({ event: 'collector.held', subject: '7', ...entry });
    sink.note({ event: 'collector.released', subject: '7', ...entry });
    const of = { reason: entry.reason, by: 'alice' };
    const byDaemon = { ...of, policy: 'production', build: '19.536-4', by: 'daemon' };
    expect(written).toEqual([
      { level: 'info', fields: { event: 'build.held', build: '19.536-4', ...of } },
      { level: 'error', fields: { event: 'build.held', ...byDaemon } },
      { level: 'info', fields: { event: 'build.released', build: '19.536-4', ...of } },
      { level: 'info', fields: { event: 'collector.held', collectorId: 7, ...of } },
      { level: 'info', fields: { event: 'collector.released', collectorId: 7, ...of } },
    ]);
  });

  it('never throws, and one broken projection leaves the others alone', async () => {
    const withoutLog = aSink({ logger: true });
    expect(() => withoutLog.sink.report(aRolloutEvent())).not.toThrow();
    expect(() => withoutLog.sink.note({ event: 'leader.acquired' })).not.toThrow();
    expect(await withoutLog.count('upwave_leader')).toBe(1);
    const withoutMetrics = aSink({ metrics: true });
    expect(() => withoutMetrics.sink.report(aRolloutEvent())).not.toThrow();
    expect(withoutMetrics.written.map(({ fields }) => fields.event)).toEqual([
      'upgrade.succeeded',
      'projection.failed',
    ]);
  });
});
