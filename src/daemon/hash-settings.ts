import { keyedHashHex } from '../base/hash.ts';
import type { AccountConfig } from '../config/config.ts';
import type { SettingHash } from '../rollout/reload/newest-config.ts';
import { revealedJson, writtenKeys } from './live-config.ts';

// Enough to tell a few configs apart.
const digits = 16;

/**
 * Identifies the config outside of the policies, key by key. Left out is what may differ between daemons: the address they
 * listen on, their log, and their way to Redis. The access key of the service is the key of the hash. Redis does not have it,
 * so nobody who reads Redis can try out passwords and tokens (P12).
 */
export function hashSettings(config: AccountConfig): readonly SettingHash[] {
  const { service, http, notify, report, installation, historyMs, learnsFromAccounts } = config;
  const { accessId: _id, accessKey, ...access } = service;
  const { host: _host, port: _port, ...people } = http;
  const settings = {
    service: access,
    http: people,
    notify,
    report,
    installation,
    historyMs,
    learnsFromAccounts,
  };
  return Object.entries(settings).map(([name, value]) => ({
    key: writtenKeys[name] ?? name,
    hash: keyedHashHex(accessKey.reveal(), `${name} ${revealedJson(value)}`, digits),
  }));
}
