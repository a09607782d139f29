/** What a daemon and its Redis hold at one quiet moment. */
export interface Sample {
  readonly rolloutsEnded: number;
  readonly rssBytes: number;
  readonly heapBytes: number;
  /** Open files and sockets. */
  readonly handles: number;
  readonly jobsDelayed: number;
  /** Kept for as long as `history` says: they grow with the rollouts, and with nothing else. */
  readonly keysOfRollouts: number;
  /** All others, but for the ticks of the schedule. */
  readonly keysBeside: number;
  readonly redisBytes: number;
}

export interface Growth {
  readonly isGrown: boolean;
  /** One line for each thing that was watched. */
  readonly words: readonly string[];
}

// A heap sample is taken between two garbage collections, so the low-water mark may vary by this much.
const heapToleranceBytes = 12 * 2 ** 20;
const heapToleranceShare = 0.2;

// What a rollout may leave in Redis: its record, groups, records, counters, orders and events.
const keysPerRolloutMax = 8;
const samplesMin = 8;

/** Compares the second quarter of a run with its last: the first one warms up. */
export function growthOf(samples: readonly Sample[]): Growth {
  if (samples.length < samplesMin)
    return { isGrown: true, words: [`only ${samples.length} rollouts ended: run longer`] };
  const quarter = Math.floor(samples.length / 4);
  const early = samples.slice(quarter, 2 * quarter);
  const late = samples.slice(-quarter);
  const least = (of: readonly Sample[], pick: (sample: Sample) => number) => Math.min(...of.map(pick));
  const most = (of: readonly Sample[], pick: (sample: Sample) => number) => Math.max(...of.map(pick));
  const heap = { from: least(early, heapOf), to: least(late, heapOf) };
  const heapMax = heap.from + Math.max(heapToleranceBytes, heap.from * heapToleranceShare);
  const handles = { from: most(early, handlesOf), to: most(late, handlesOf) };
  const keys = { from: most(early, keysOf), to: most(late, keysOf) };
  const jobs = { from: most(early, jobsOf), to: most(late, jobsOf) };
  const perRollout = Math.max(...late.map((sample) => sample.keysOfRollouts / sample.rolloutsEnded));
  const rules: ReadonlyArray<readonly [isKept: boolean, words: string]> = [
    [heap.to <= heapMax, `heap ${mib(heap.from)} → ${mib(heap.to)} MiB (low-water marks)`],
    [handles.to <= handles.from + 3, `handles ${handles.from} → ${handles.to}`],
    [keys.to <= keys.from + 3, `Redis keys beside those of rollouts ${keys.from} → ${keys.to}`],
    [jobs.to <= jobs.from + 1, `delayed jobs ${jobs.from} → ${jobs.to}`],
    [perRollout <= keysPerRolloutMax, `keys a rollout ${perRollout.toFixed(1)}`],
  ];
  const ended = samples.at(-1)?.rolloutsEnded ?? 0;
  return {
    isGrown: rules.some(([isKept]) => !isKept),
    words: [
      `${ended} rollouts ended`,
      ...rules.map(([isKept, words]) => `${isKept ? 'kept ' : 'GREW '} ${words}`),
    ],
  };
}

const heapOf = ({ heapBytes }: Sample) => heapBytes;
const handlesOf = ({ handles }: Sample) => handles;
const keysOf = ({ keysBeside }: Sample) => keysBeside;
const jobsOf = ({ jobsDelayed }: Sample) => jobsDelayed;

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}
