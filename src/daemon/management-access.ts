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
 * The whole API of the configured service, for one command of one person. It uses no Redis, and the budget of this
 * process only.
 * @param hooks `onMoved` is called with each address that the service redirects to, `onProxy` with each proxy that requests go
 *   through, `onPauseWait` for each pause that
 *   is waited for, `onUnusable` with the number of rows that a list left out; `readWindow` limits the retries of reads
 */
export function makeManagementAccess(
  service: ServiceConfig,
  hooks: {
    readonly onMoved: (baseUrl: string) => void;
    readonly onProxy: (proxy: string) => void;
    readonly onPauseWait: OnPauseWait;
    readonly onUnusable: (rows: number) => void;
    readonly readWindow: RetryWindow;
  },
): ManagementAccess {
  const client = makeServiceClient({
    ...clientSettings(service),
    budget: makeLocalApiBudget(ourRequestsPerSecond(service), hooks.onPauseWait),
    clock: { now: () => Date.now() },
    observer: { onMoved: hooks.onMoved, onProxy: hooks.onProxy },
  });
  return {
    management: makeManagementClient({
      ...withRetriedReads(client, hooks.readWindow),
      onUnusable: hooks.onUnusable,
    }),
    close: () => client.close(),
  };
}
