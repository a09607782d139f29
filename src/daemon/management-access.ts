import type { RetryWindow } from '../base/retry-window.ts';
import {
  type ManagementClient,
  makeManagementClient,
} from '../collector-api/management/management-client.ts';
import { withRetriedReads } from '../collector-api/wire/retry-reads.ts';
import { makeServiceClient } from '../collector-api/wire/service-client.ts';
import type { ServiceConfig } from '../config/config.ts';
import { makeLocalApiBudget, type OnPauseWait } from './api-budgets.ts';
import { clientSettings, ourRequestsPerSecond } from './service-settings.ts';

export interface ManagementAccess {
  readonly management: ManagementClient;
  close(): Promise<void>;
}

/**
 * The whole API of the configured service, for one command of one person: no Redis, a budget of this process alone.
 * @param hooks `onMoved` hears each address that the service sends a request on to, `onPauseWait` each pause that is
 * waited for, `onUnusable` how many rows a list left out; `readWindow` is how long reads are sent again
 */
export function makeManagementAccess(
  service: ServiceConfig,
  hooks: {
    readonly onMoved: (baseUrl: string) => void;
    readonly onPauseWait: OnPauseWait;
    readonly onUnusable: (rows: number) => void;
    readonly readWindow: RetryWindow;
  },
): ManagementAccess {
  const client = makeServiceClient({
    ...clientSettings(service),
    budget: makeLocalApiBudget(ourRequestsPerSecond(service), hooks.onPauseWait),
    clock: { now: () => Date.now() },
    observer: { onMoved: hooks.onMoved },
  });
  return {
    management: makeManagementClient({
      ...withRetriedReads(client, hooks.readWindow),
      onUnusable: hooks.onUnusable,
    }),
    close: () => client.close(),
  };
}
