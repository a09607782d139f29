import { readFileSync } from 'node:fs';
import { unlessRefused } from '../base/node-errors.ts';
import type { ConnectionLimits } from '../http/limit-connections.ts';

/** For Node itself, connections to Redis (some to each node of a Cluster), the log and the config files. */
const descriptorsReserved = 100;
/** Far more than the people, pages and scrapers of one daemon need. */
const connectionsMax = 256;
const connectionsMin = 8;
/** For systems where the limit of the process is unknown, such as those other than Linux. */
const connectionsDefault = 64;

/**
 * How many connections the HTTP server may have, so that the service's client and Redis always get a descriptor: half
 * of what the limit of the process (`ulimit -n`) leaves after them.
 * @param serviceSockets the maximum that the service's client opens
 * @param openFilesMax the limit; undefined when it is unknown
 */
export function connectionLimits(
  serviceSockets: number,
  openFilesMax: number | undefined = readOpenFilesMax(),
): ConnectionLimits {
  const left =
    openFilesMax === undefined ? undefined : (openFilesMax - descriptorsReserved - serviceSockets) / 2;
  const max =
    left === undefined
      ? connectionsDefault
      : Math.max(connectionsMin, Math.min(connectionsMax, Math.floor(left)));
  return { max, perAddressMax: Math.ceil(max / 2), reservedForLoopback: 4 };
}

function readOpenFilesMax(): number | undefined {
  const limits = unlessRefused(() => readFileSync('/proc/self/limits', 'utf8')) ?? '';
  const [, soft] = /^Max open files +(\d+|unlimited)/m.exec(limits) ?? [];
  if (soft === undefined) return undefined;
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}
