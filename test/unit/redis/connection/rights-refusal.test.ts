import { describe, expect, it } from 'vitest';
import { isRightsRefusal } from '../../../../src/redis/connection/rights-refusal.ts';

describe('isRightsRefusal', () => {
  it.each([
    "NOPERM this user has no permissions to run the 'eval' command",
    "NOPERM User upwave has no permissions to run the 'eval' command",
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
