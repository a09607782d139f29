import type { EpochMs } from '../../base/time.ts';
import { dayMs } from '../../base/time-zone.ts';
import { hashShare } from '../scenario/random.ts';
import { advanceCollector, lastHeartbeatAt, type SimulatedCollector } from './simulated-collector.ts';

/** From the first instant until before the second. */
interface TimeRange {
  readonly from: EpochMs;
  readonly to: EpochMs;
}

const minuteMs = 60_000;

// Not specified: some collectors send nothing; the others send 10 to 100 messages a minute at noon, half of that at
// midnight.
const idleShare = 0.05;
const [rateMin, rateMax] = [10, 100];
const nightShare = 0.5;

/** Counts the messages that a collector delivered, by its rate and the time of day, until it went down or fell silent. */
export function countMessages(collector: SimulatedCollector, { from, to }: TimeRange, now: EpochMs): number {
  const life = advanceCollector(collector, now);
  const until = life.kind === 'down' ? lastHeartbeatAt(life, now) : (life.silentSince ?? now);
  const forMs = Math.min(to, until) - from;
  const share = hashShare(`messages:${collector.facts.id}`);
  if (forMs <= 0 || share < idleShare) return 0;
  const hourShare = (((from + forMs / 2) % dayMs) + dayMs) % dayMs;
  const daylight = (1 - Math.cos((2 * Math.PI * hourShare) / dayMs)) / 2;
  const perMinute = (rateMin + share * (rateMax - rateMin)) * (nightShare + (1 - nightShare) * daylight);
  return Math.floor((perMinute * forMs) / minuteMs);
}
