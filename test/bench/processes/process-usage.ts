import { readFileSync } from 'node:fs';

export interface ProcessUsage {
  readonly cpuSeconds: number;
  readonly rssBytes: number;
  readonly rssPeakBytes: number;
}

// Of Linux, on every machine that Node runs on.
const clockTicksPerSecond = 100;

/** @throws where there is no /proc, and where the process is gone */
export function readUsage(pid: number): ProcessUsage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kibibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
  // The fields after the name of the program, which may hold anything; user and system time are the 14th and 15th.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / clockTicksPerSecond,
    rssBytes: kibibytes('VmRSS') * 1_024,
    rssPeakBytes: kibibytes('VmHWM') * 1_024,
  };
}

/** Null while the process is down. */
export function usageIfUp(pid: number | undefined): ProcessUsage | null {
  try {
    return readUsage(pid ?? 0);
  } catch {
    return null;
  }
}
