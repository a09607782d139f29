import type { EpochMs } from '../../base/time.ts';
import { dayMs } from '../../base/time-zone.ts';
import { hashShare } from '../scenario/random.ts';
import { lastHeartbeatAt, type SimulatedCollector, settleCollector } from './simulated-collector.ts';

/** From the first instant to the second, which is not in it. */
interface TimeRange {
  readonly from: EpochMs;
  readonly to: EpochMs;
}

const minuteMs = 60_000;

// Ours: some collectors have nothing to send; the others send 10 to 100 messages a minute at noon, half of it at midnight.
const idleShare = 0.05;
const [rateMin, rateMax] = [10, 100];
const nightShare = 0.5;

/** How many messages a collector delivered: by its own rate and the hour, until it went down or fell silent. */
export function countMessages(collector: SimulatedCollector, { from, to }: TimeRange, now: EpochMs): number {
  const life = settleCollector(collector, now);
  const until = life.kind === 'down' ? lastHeartbeatAt(life, now) : (life.silentSince ?? now);
  const forMs = Math.min(to, until) - from;
  const share = hashShare(`messages:${collector.facts.id}`);
  if (forMs <= 0 || share < idleShare) return 0;
  const hourShare = (((from + forMs / 2) % dayMs) + dayMs) % dayMs;
  const daylight = (1 - Math.cos((2 * Math.PI * hourShare) / dayMs)) / 2;
  const perMinute = (rateMin + share * (rateMax - rateMin)) * (nightShare + (1 - nightShare) * daylight);
  return Math.floor((perMinute * forMs) / minuteMs);
}
