import { describe, expect, it } from 'vitest';
import { CommandFailure } from '../../../../src/cli/shell/command.ts';
import { exitCodes } from '../../../../src/cli/shell/exit-codes.ts';
import { redisRefusal } from '../../../../src/cli/state/with-kept-state.ts';

const redis = { url: 'redis://:hush-hush@db', keyPrefix: 'x' };
const refusalOf = (error: unknown) => redisRefusal(error, redis, 'redis://db');

describe('what Redis refuses a command', () => {
  it('is reported with its own message and a remedy, without credentials (P12)', () => {
    const acl = refusalOf(
      new Error("NOPERM User ann has no permissions to run the 'scan' command, hush-hush"),
    );
    expect(acl).toBeInstanceOf(CommandFailure);
    expect(acl).toMatchObject({
      exitCode: exitCodes.usageOrConfig,
      message:
        "Redis at redis://db refuses: NOPERM User ann has no permissions to run the 'scan' command, ***; allow it to this user (ACL SETUSER), or use another one",
    });
    expect(refusalOf(new Error('OOM command not allowed'))).toMatchObject({
      exitCode: exitCodes.unreachable,
    });
  });

  it('is thrown unchanged where it is a bug of ours', () => {
    for (const error of [new Error('ERR wrong number of arguments'), new TypeError('x'), 'x'])
      expect(refusalOf(error)).toBe(error);
  });
});
