import type { ServiceSession } from './service-sessions.ts';

export type ServiceAddresses = ReturnType<typeof makeServiceAddresses>;

/** One or two lost answers are everyday. Fewer than open the circuit, so that both addresses are tried before. */
export const unansweredHereMax = 3;

/**
 * Which address is asked: the configured one, or the one to which it sent us. A redirect may be a mistake that somebody
 * takes back, and the place to which it led may die, so it is followed for as long as that place answers.
 * @param home the configured one
 */
export function makeServiceAddresses(home: ServiceSession) {
  let current = home;
  let moved: ServiceSession | undefined;
  let unansweredInRow = 0;
  const use = (session: ServiceSession): void => {
    current = session;
    unansweredInRow = 0;
  };

  return {
    home,
    current: (): ServiceSession => current,
    moveTo: (session: ServiceSession): void => {
      if (session !== home) moved = session;
      use(session);
    },
    returnHome: (): void => use(home),
    /** @param isServed with what was asked for, not with a refusal */
    answered: (session: ServiceSession, isServed: boolean): void => {
      if (session !== current) return;
      unansweredInRow = 0;
      // Who serves has not moved: the other place is not tried again when this one is down.
      if (isServed && session === home) moved = undefined;
    },
    /** Nobody was there who could answer. */
    unanswered: (session: ServiceSession): void => {
      if (session !== current || moved === undefined) return;
      unansweredInRow += 1;
      if (unansweredInRow >= unansweredHereMax) use(session === home ? moved : home);
    },
  };
}
