import { readFileSync } from 'node:fs';
import { unlessRefused } from '../base/node-errors.ts';
import type { ConnectionLimits } from '../http/bound-connections.ts';

/** Node's own, Redis's connections (of a cluster, some to each node), the log, the config's files. */
const descriptorsReserved = 100;
/** Far more than people, pages and scrapers of one daemon have. */
const connectionsMax = 256;
const connectionsMin = 8;
/** Where the limit of the process is unreadable, as outside Linux. */
const connectionsDefault = 64;

/**
 * How many connections the HTTP server may have, so that the service's client and Redis always get a descriptor: half
 * of what the process's limit (`ulimit -n`) leaves beside them.
 * @param serviceSockets the most that the service's client opens
 * @param openFilesMax the limit; undefined where it is not known
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
