import type { ServiceSession } from './service-session.ts';

/** The sessions of one client, one for each address that it was sent to. */
export interface ServiceSessions {
  at(baseUrl: string): ServiceSession;
  /** Closes those that were asked for longest ago, beyond a few; calls that are open there end as `cancelled`. */
  letGo(inUse: readonly ServiceSession[]): Promise<void>;
  /** What their cookies hold. */
  secrets(): readonly string[];
  close(): Promise<void>;
}

/** More than anybody has deployments: a service that sends us on and on must not fill the memory with connections. */
const sessionsMax = 8;

export function makeServiceSessions(open: (baseUrl: string) => ServiceSession): ServiceSessions {
  /** By base URL, the one that was asked for last at the end. */
  const sessions = new Map<string, ServiceSession>();

  return {
    at: (baseUrl) => {
      const session = sessions.get(baseUrl) ?? open(baseUrl);
      sessions.delete(baseUrl);
      sessions.set(baseUrl, session);
      return session;
    },
    letGo: async (inUse) => {
      const spare = [...sessions.values()].filter((session) => !inUse.includes(session));
      const old = spare.slice(0, Math.max(0, sessions.size - sessionsMax));
      for (const { baseUrl } of old) sessions.delete(baseUrl);
      await Promise.all(old.map(({ http }) => http.close()));
    },
    secrets: () => [...sessions.values()].flatMap(({ jar }) => jar.secrets()),
    close: async () => {
      await Promise.all([...sessions.values()].map(({ http }) => http.close()));
    },
  };
}
