import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readableLog } from '../../../../src/cli/run/readable-log.ts';
import { makeLogger } from '../../../../src/observability/logger.ts';

describe('the log at a terminal', () => {
  it('shows when, what, which collector and why, and no secret', () => {
    const out = new PassThrough();
    const paint = (format: unknown, text: string) => `<${String(format)}>${text}`;
    const destination = readableLog({ out, paint });
    const logger = makeLogger({ level: 'info', secrets: ['the-secret-token'], destination });
    logger.write('info', {
      event: 'upgrade.failed',
      policy: 'web',
      rollout: 'web-1',
      wave: 'canary',
      collectorId: 7,
      collectorName: 'web-7',
      by: 'daemon',
      reason: 'permission denied',
    });
    logger.write('info', { event: 'rollout.aborted', rollout: 'web-1', by: 'ann', reason: 'ticket 4711' });
    logger.write('warn', { event: 'redis.unreachable', reason: 'with the-secret-token' });
    logger.write('error', { event: 'http.failed', error: new Error('cannot answer') });
    const text = String(out.read()).replaceAll(/^\d\d:\d\d:\d\d/gm, 'HH:MM:SS');
    expect(text.split('\n')).toEqual([
      'HH:MM:SS  upgrade.failed        web-1, wave canary, web-7: permission denied',
      'HH:MM:SS  rollout.aborted       web-1, by ann: ticket 4711',
      'HH:MM:SS  <yellow>redis.unreachable     with [redacted]',
      'HH:MM:SS  <red>http.failed           cannot answer',
      '',
    ]);
  });
});
