import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { endOnBrokenPipe } from '../../../../src/cli/shell/stop-signal.ts';

function broken(mayStop: boolean, errors: readonly string[]): readonly string[] {
  const stream = new EventEmitter();
  const did: string[] = [];
  endOnBrokenPipe([stream], {
    mayStop: () => mayStop,
    stop: () => did.push('stop'),
    exit: () => did.push('exit'),
  });
  for (const code of errors) stream.emit('error', Object.assign(new Error(code), { code }));
  return did;
}

describe('an output without a reader', () => {
  it('ends the command', () => {
    expect(broken(false, ['EPIPE'])).toEqual(['exit']);
  });

  it('stops a command with open resources, once', () => {
    expect(broken(true, ['EPIPE', 'EPIPE'])).toEqual(['stop']);
  });

  it('is distinguished from every other error', () => {
    expect(() => broken(true, ['ENOSPC'])).toThrow('ENOSPC');
  });
});
