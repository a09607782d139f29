import { userInfo } from 'node:os';

/** Who asks, for the events. */
export function operatorName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user may have no name.
    return 'operator';
  }
}
