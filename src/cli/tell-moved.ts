import { toPrintable } from '../observability/printable.ts';
import type { ConsoleOutput } from './console-output.ts';

/**
 * Tells a person, once for each address, that the service sent the command on to a host of `allowedHosts`: it worked,
 * and costs a request more each time until the config names the new address (P12).
 */
export function makeMoveTeller({ err }: Pick<ConsoleOutput, 'err'>): (baseUrl: string) => void {
  const told = new Set<string>();
  return (baseUrl) => {
    if (told.has(baseUrl)) return;
    told.add(baseUrl);
    err.write(`note: this account is served at ${toPrintable(baseUrl)}: set service.baseUrl to it\n`);
  };
}
