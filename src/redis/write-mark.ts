import { randomBytes } from 'node:crypto';

/** Makes marks that no other call of any daemon has: they tell a command sent twice from two commands. */
export function makeWriteMarks(): () => string {
  const daemon = randomBytes(6).toString('base64url');
  let count = 0;
  return () => {
    count += 1;
    return `${daemon}${count.toString(36)}`;
  };
}
