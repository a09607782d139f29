import type { ServiceSession } from './service-sessions.ts';

export type ServiceAddresses = ReturnType<typeof makeServiceAddresses>;

/** One or two lost responses are normal. Fewer than open the circuit, so that both addresses are tried first. */
export const unansweredHereMax = 3;

/**
 * Chooses the address: the configured one, or the one to which it redirected. A redirect may be a mistake that is
 * reverted, and its target may fail, so it is followed only while the target answers.
 * @param home the configured address
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
    /** @param isServed false for a refusal */
    answered: (session: ServiceSession, isServed: boolean): void => {
      if (session !== current) return;
      unansweredInRow = 0;
      // The configured address works, so its earlier redirect is obsolete.
      if (isServed && session === home) moved = undefined;
    },
    /** No usable response came. */
    unanswered: (session: ServiceSession): void => {
      if (session !== current || moved === undefined) return;
      unansweredInRow += 1;
      if (unansweredInRow >= unansweredHereMax) use(session === home ? moved : home);
    },
  };
}
