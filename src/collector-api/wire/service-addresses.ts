import type { ServiceSession } from './service-sessions.ts';

/**
 * Which address is asked: the configured one, or the one to which it sent us. A redirect may be a mistake that somebody
 * takes back, and the place to which it led may die, so it is followed for as long as that place answers.
 */
export interface ServiceAddresses {
  /** The configured one. */
  readonly home: ServiceSession;
  current(): ServiceSession;
  moveTo(session: ServiceSession): void;
  returnHome(): void;
  /** `isServed`: with what was asked for, not with a refusal. */
  answered(session: ServiceSession, isServed: boolean): void;
  /** Nobody was there who could answer. */
  unanswered(session: ServiceSession): void;
}

/** One or two lost answers are everyday. Fewer than open the circuit, so that both addresses are tried before. */
export const unansweredHereMax = 3;

export function makeServiceAddresses(home: ServiceSession): ServiceAddresses {
  let current = home;
  let moved: ServiceSession | undefined;
  let unansweredInRow = 0;
  const use = (session: ServiceSession): void => {
    current = session;
    unansweredInRow = 0;
  };

  return {
    home,
    current: () => current,
    moveTo: (session) => {
      if (session !== home) moved = session;
      use(session);
    },
    returnHome: () => use(home),
    answered: (session, isServed) => {
      if (session !== current) return;
      unansweredInRow = 0;
      // Who serves has not moved: the other place is not tried again when this one is down.
      if (isServed && session === home) moved = undefined;
    },
    unanswered: (session) => {
      if (session !== current || moved === undefined) return;
      unansweredInRow += 1;
      if (unansweredInRow >= unansweredHereMax) use(session === home ? moved : home);
    },
  };
}
