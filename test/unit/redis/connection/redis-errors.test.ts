import { describe, expect, it } from 'vitest';
import { makeRedisFaults } from '../../../../src/redis/connection/faults.ts';
import {
  isRedisOutage,
  isRightsRefusal,
  writeRefusalOf,
} from '../../../../src/redis/connection/redis-errors.ts';

const withCode = (code: string) => Object.assign(new Error(`connect ${code} 10.0.0.7:6379`), { code });

describe('an error that means that Redis is away', () => {
  it.each([
    new Error('Command timed out'),
    new Error('Connection is closed.'),
    new Error("Stream isn't writeable and enableOfflineQueue options is false"),
    new Error('Command aborted due to connection close'),
    new Error('None of startup nodes is available'),
    new Error("Cluster isn't ready and enableOfflineQueue options is false"),
    new Error('Too many Cluster redirections. Last error: ReplyError: MOVED 7 10.0.0.7:6379'),
    new Error('LOADING Redis is loading the dataset in memory'),
    new Error("READONLY You can't write against a read only replica. script: 7, on @user_script:3."),
    new Error('MASTERDOWN Link with MASTER is down'),
    new Error('CLUSTERDOWN The cluster is down'),
    new Error("OOM command not allowed when used memory > 'maxmemory'."),
    new Error('BUSY Redis is busy running a script.'),
    new Error('TRYAGAIN Multiple keys request during rehashing of slot'),
    withCode('ECONNREFUSED'),
    withCode('ENOTFOUND'),
    new AggregateError([withCode('ECONNREFUSED'), withCode('ETIMEDOUT')]),
  ])('is known by its kind: $message', (error) => {
    expect(isRedisOutage(error)).toBe(true);
  });

  it.each([
    new Error("NOPERM this user has no permissions to run the 'evalsha' command"),
    new Error('WRONGTYPE Operation against a key holding the wrong kind of value'),
    new Error('ERR Error running script: @user_script:7: attempt to compare nil with number'),
    new Error('WRONGPASS invalid username-password pair or user is disabled.'),
    new TypeError("Cannot read properties of undefined (reading 'rev')"),
    new AggregateError([withCode('ECONNREFUSED'), new Error('a bug')]),
    'a text',
    undefined,
  ])('is no such error, because waiting does not help: %s', (error) => {
    expect(isRedisOutage(error)).toBe(false);
  });
});

describe('what fails at a Redis that is there', () => {
  it('is reported once until it works again or fails otherwise, and an outage is not reported', () => {
    const reports: string[] = [];
    const faults = makeRedisFaults({
      onFault: (reason) => reports.push(reason),
      onOver: (what) => reports.push(`over: ${what}`),
    });
    faults.met('the leader lease', new Error('Connection is closed.'));
    faults.over('the leader lease');
    expect(faults.reason()).toBeNull();
    for (let beat = 0; beat < 3; beat += 1) faults.met('the leader lease', new Error('WRONGTYPE no string'));
    faults.met('the API budget', new TypeError('a bug'));
    expect(faults.reason()).toBe('the leader lease: WRONGTYPE no string; the API budget: a bug');
    faults.over('the leader lease');
    faults.over('the API budget');
    expect(faults.reason()).toBeNull();
    expect(reports).toEqual([
      'the leader lease: WRONGTYPE no string',
      'the API budget: a bug',
      'over: the leader lease',
      'over: the API budget',
    ]);
  });

  it('is shown in one line of bounded length, whatever the message holds', () => {
    const faults = makeRedisFaults({ onFault: () => undefined, onOver: () => undefined });
    faults.met('the API budget', new Error(`\u001b[2J\n${'x'.repeat(10_000)}`));
    expect(faults.reason()).toMatch(/^the API budget: \\u001b\[2J\\u000ax+$/);
    expect(faults.reason()?.length).toBe(300);
  });
});

const sha = '2bab3b661081db58bd2341920e0ba7cf5dc77b25';

const outOfMemory = "OOM command not allowed when used memory > 'maxmemory'";
const readOnly = "READONLY You can't write against a read only replica";
const inScript = `script: ${sha}, on @user_script:12.`;

describe('writeRefusalOf', () => {
  it.each([
    [`${outOfMemory}.`, outOfMemory],
    [`${outOfMemory}. ${inScript}`, outOfMemory],
    [
      `ERR Error running script (call to f_${sha}): @user_script:3: @user_script: 3: -${outOfMemory}.`,
      outOfMemory,
    ],
    [`${readOnly}. ${inScript}`, readOnly],
    ['NOREPLICAS Not enough good replicas to write.', 'NOREPLICAS Not enough good replicas to write'],
    [
      'Too many Cluster redirections. Last error: ReplyError: CLUSTERDOWN Hash slot not served',
      'CLUSTERDOWN Hash slot not served',
    ],
  ])("says in Redis's words why it takes no writes: %s", (message, reason) => {
    expect(writeRefusalOf(new Error(message))).toBe(reason);
  });

  it.each([
    'MISCONF Errors writing to the AOF file: No space left on device',
    'UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)',
    'CLUSTERDOWN The cluster is down',
  ])('repeats what is a reason as it is: %s', (message) => {
    expect(writeRefusalOf(new Error(message))).toBe(message);
  });

  it.each([
    "NOPERM this user has no permissions to run the 'set' command",
    'connect ECONNREFUSED 127.0.0.1:6379',
    'the READONLY',
  ])('does not report other errors: %s', (message) => {
    expect(writeRefusalOf(new Error(message))).toBeNull();
    expect(writeRefusalOf('OOM command not allowed')).toBeNull();
  });
});

describe('isRightsRefusal', () => {
  it.each([
    "NOPERM this user has no permissions to run the 'eval' command",
    'NOPERM this user has no permissions to access one of the keys used as arguments',
    'NOPERM No permissions to access a channel',
    "ERR The user executing the script can't run this command or subcommand script: 0123, on @user_script:1.",
    "ERR The user executing the script can't publish to the channel mentioned in the command",
    'ERR Error running script (call to f_0123): @user_script:1: @user_script: 1: -NOPERM this user has no permissions',
    'NOPERM ACL failure in script: User upwave has no permissions to access the key',
  ])('knows %s', (message) => {
    expect(isRightsRefusal(new Error(message))).toBe(true);
  });

  it.each([
    'READONLY You cannot write against a read only replica',
    'NOAUTH Authentication required.',
    'Connection is closed.',
  ])('is not %s', (message) => {
    expect(isRightsRefusal(new Error(message))).toBe(false);
  });
});
