import { hashHex } from '../base/hash.ts';
import type { CollectorSource } from './simulated-collector.ts';

/** Which field shows where the data of a source is sent, for the types which receive it. */
const fieldByType: Readonly<Record<string, 'url' | 'token'>> = { HTTP: 'url', Cloudsyslog: 'token' };

export function intakeFieldOf(sourceType: unknown): 'url' | 'token' | undefined {
  const type = String(sourceType);
  return Object.hasOwn(fieldByType, type) ? fieldByType[type] : undefined;
}

/** Where the data of a source is sent: set by the service, whatever a client states. It lasts as long as the source. */
export function intakeOf({ id, stated }: CollectorSource): Readonly<Record<string, string>> {
  const field = intakeFieldOf(stated['sourceType']);
  if (field === undefined) return {};
  const token = hashHex(`intake:${id}`, 40);
  return { [field]: field === 'url' ? `https://collectors.example.com/receiver/v1/http/${token}` : token };
}
