import { describe, expect, it } from 'vitest';
import { type LoggerParts, makeLogger } from '../../../src/observability/logger.ts';
import { makeRedactor } from '../../../src/observability/redactor.ts';

function aLog(parts: Partial<LoggerParts> = {}) {
  const lines: string[] = [];
  const logger = makeLogger({
    level: 'info',
    secrets: [],
    destination: { write: (line: string) => void lines.push(line) },
    ...parts,
  });
  return {
    logger,
    lines,
    entries: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

describe('makeLogger', () => {
  it('writes one JSON object a line, with the fields that are present and no others', () => {
    const { logger, lines, entries } = aLog();
    logger.write('info', { event: 'upgrade.succeeded', policy: 'production', collectorId: 7 });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^\{.*\}\n$/);
    const { level, time, pid, hostname, ...fields } = entries()[0] ?? {};
    expect(fields).toEqual({ event: 'upgrade.succeeded', policy: 'production', collectorId: 7 });
    expect(level).toBe('info');
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect([typeof pid, typeof hostname]).toEqual(['number', 'string']);
  });

  it('replaces secrets in texts, errors, their causes and their stacks', () => {
    const secret = 'k3y"with quotes/and+more';
    const { logger, lines } = aLog({ secrets: [secret, 'id-1:k3y'] });
    logger.write('error', {
      event: 'step.failed',
      reason: `GET /?key=${encodeURIComponent(secret)} with ${secret}`,
      error: new Error(`first ${secret}`, {
        cause: new Error(`second ${JSON.stringify({ secret })}`, {
          cause: { headers: [`Basic ${Buffer.from('id-1:k3y').toString('base64')}`, { deep: secret }] },
        }),
      }),
    });
    const text = lines.join('');
    expect(text).toContain('[redacted]');
    expect(text).not.toMatch(/k3y/);
    expect(text).not.toContain(Buffer.from('id-1:k3y').toString('base64'));
    expect(text).not.toContain(encodeURIComponent(secret));
  });

  it('replaces fields with the name of a secret, at any depth', () => {
    const { logger, lines } = aLog();
    const names = ['authorization', 'Cookie', 'set-cookie', 'password', 'accessKey', 'token', 'accessToken'];
    const carrier = Object.fromEntries(names.map((name) => [name, 'hush-hush']));
    logger.write('error', {
      event: 'step.failed',
      error: { ...carrier, request: { headers: carrier, list: [carrier] } },
    });
    expect(lines.join('')).not.toContain('hush-hush');
  });

  it('prints of an error only what it knows to be harmless', () => {
    const { logger, entries } = aLog();
    const error = Object.assign(new Error('refused'), {
      code: 'ECONNREFUSED',
      request: { headers: { 'x-odd': 'not-for-print' } },
    });
    logger.write('error', { event: 'step.failed', error });
    expect(entries()[0]?.['error']).toEqual({
      type: 'Error',
      message: 'refused',
      code: 'ECONNREFUSED',
      stack: expect.stringContaining('refused'),
    });
  });

  it('shows control characters and marks of reading direction as what they are', () => {
    const { logger, entries } = aLog();
    logger.write('info', {
      event: 'upgrade.failed',
      collectorName: 'a\u001b[31m\nb\u009b\u202ec',
      reason: 'grün bleibt grün ✓',
    });
    expect(entries()[0]?.['collectorName']).toBe('a\\u001b[31m\\u000ab\\u009b\\u202ec');
    expect(entries()[0]?.['reason']).toBe('grün bleibt grün ✓');
  });

  it('ends for values that contain themselves, and cuts long ones', () => {
    const { logger, lines } = aLog();
    const loop: Record<string, unknown> = { text: 'x'.repeat(100_000) };
    loop['self'] = loop;
    logger.write('error', { event: 'step.failed', error: loop });
    expect(lines.join('').length).toBeLessThan(50_000);
  });

  it('leaves no half of a secret where a long text is cut', () => {
    const { logger, lines } = aLog({ secrets: ['0123456789abcdef'] });
    logger.write('info', { event: 'a.happened', reason: `${'x'.repeat(3_992)}0123456789abcdef` });
    expect(lines.join('')).not.toContain('01234567');
  });
});

describe('makeRedactor', () => {
  it('takes the longer secret first when one contains the other', () => {
    expect(makeRedactor(['abcdef', 'abcdefghij'])('x abcdefghij y')).toBe('x [redacted] y');
  });

  it('leaves texts alone without secrets, or with ones as short as a word', () => {
    expect(makeRedactor([])('a b c')).toBe('a b c');
    expect(makeRedactor(['a', ''])('a b c')).toBe('a b c');
  });
});
