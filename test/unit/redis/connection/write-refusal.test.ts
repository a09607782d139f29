import { describe, expect, it } from 'vitest';
import { writeRefusalOf } from '../../../../src/redis/connection/outage.ts';

const sha = '2bab3b661081db58bd2341920e0ba7cf5dc77b25';

describe('writeRefusalOf', () => {
  it.each([
    [
      "OOM command not allowed when used memory > 'maxmemory'.",
      "OOM command not allowed when used memory > 'maxmemory'",
    ],
    [
      `OOM command not allowed when used memory > 'maxmemory'. script: ${sha}, on @user_script:12.`,
      "OOM command not allowed when used memory > 'maxmemory'",
    ],
    [
      `ERR Error running script (call to f_${sha}): @user_script:3: @user_script: 3: -OOM command not allowed when used memory > 'maxmemory'.`,
      "OOM command not allowed when used memory > 'maxmemory'",
    ],
    [
      'MISCONF Errors writing to the AOF file: No space left on device',
      'MISCONF Errors writing to the AOF file: No space left on device',
    ],
    [
      `READONLY You can't write against a read only replica. script: ${sha}, on @user_script:1.`,
      "READONLY You can't write against a read only replica",
    ],
    [
      'UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)',
      'UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)',
    ],
    ['NOREPLICAS Not enough good replicas to write.', 'NOREPLICAS Not enough good replicas to write'],
    ['CLUSTERDOWN The cluster is down', 'CLUSTERDOWN The cluster is down'],
    [
      'Too many Cluster redirections. Last error: ReplyError: CLUSTERDOWN Hash slot not served',
      'CLUSTERDOWN Hash slot not served',
    ],
  ])("says in Redis's words why it takes no writes: %s", (message, reason) => {
    expect(writeRefusalOf(new Error(message))).toBe(reason);
  });

  it.each([
    "NOPERM this user has no permissions to run the 'set' command",
    'connect ECONNREFUSED 127.0.0.1:6379',
    'the READONLY',
    'GLOOM is here',
  ])('is silent about other errors: %s', (message) => {
    expect(writeRefusalOf(new Error(message))).toBeNull();
  });

  it('is silent about what is no error', () => {
    expect(writeRefusalOf('OOM command not allowed')).toBeNull();
  });
});
