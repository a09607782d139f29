import type { PlanGroups } from '../../rollout/model/plan-groups.ts';
import type { Candidate, LaneQueue, Rollout, StoredView } from '../../rollout/model/rollout.ts';
import { makeScript } from '../connection/commands.ts';
import { counterField, groupSummariesOf, parseCounters, waveSummaryOf } from '../schema/counter-fields.ts';
import { laneSpan, parsePendingScore, placeBounds, waveSpan } from '../schema/plan-place.ts';

// A lane is asked for no more than this share of one view: a hundred lanes show 40 candidates each, which is more than
// a pass of the reconciler starts of one lane. With more than half as many lanes each shows two.
export const candidatesPerView = 4_000;
export const perLaneMin = 2;

// Lanes beyond these wait until one of them is empty. Two candidates of each are some 200 KB, and 20 ms of Redis's time.
const lanesPerWaveMax = 5_000;

// Due retries beyond these are seen when the ones before them have gone; they would need a rollout that waits for all.
const retriesReadMax = 10_000;

/**
 * What `decide` sees of the store, at one instant.
 *
 * KEYS: rollout, counters, pending, due, retries, groups. ARGV: now, overdueBefore, pageSize, and the mark of the
 * groups that the caller has read before, which are not sent again. Candidates are ids and scores in turn, retries
 * `<id>:<lane>` and scores.
 *
 * Pending ones lie by wave, lane and order, so the walk reads the beginning of a lane and leaps to the next, up to the
 * frontier: the last wave that has begun.
 */
export const viewScript = makeScript(`
local rollout = redis.call('HMGET', KEYS[1], 'json', 'rev', 'brake', 'frontier', 'lanes', 'groupsMark', 'v')
if not rollout[2] then return false end
local now, overdueBefore, pageSize, knownMark = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local share = math.floor(${candidatesPerView} / math.max(1, tonumber(rollout[5] or '1')))
local perLane = math.min(tonumber(pageSize), math.max(${perLaneMin}, share))

local function readPending()
  local found, taken = {}, {}
  local from, wave, lastLane, lanes = '-inf', -1, -1, 0
  local beyond = string.format('(%.0f', (tonumber(rollout[4] or '-1') + 1) * ${waveSpan})
  while true do
    local page = redis.call('ZRANGEBYSCORE', KEYS[3], from, beyond, 'WITHSCORES', 'LIMIT', 0, perLane)
    if #page == 0 then return found end
    local leap = nil
    for at = 1, #page, 2 do
      local score = tonumber(page[at + 1])
      local itsWave, laneInWave = math.floor(score / ${waveSpan}), math.floor(score / ${laneSpan})
      local lane = laneInWave % ${placeBounds.lanes}
      if itsWave ~= wave then wave, lanes = itsWave, 0 end
      if laneInWave ~= lastLane then lastLane, lanes = laneInWave, lanes + 1 end
      if lanes > ${lanesPerWaveMax} then
        leap = (wave + 1) * ${waveSpan}
        break
      end
      local count = taken[lane] or 0
      if count < perLane then
        found[#found + 1], found[#found + 2] = page[at], page[at + 1]
        count = count + 1
        taken[lane] = count
      end
      if count >= perLane then
        leap = (laneInWave + 1) * ${laneSpan}
        break
      end
    end
    from = leap and string.format('%.0f', leap) or '(' .. page[#page]
  end
end

local function readRetries()
  local due = redis.call('ZRANGEBYSCORE', KEYS[5], '-inf', now, 'WITHSCORES', 'LIMIT', 0, ${retriesReadMax})
  local found, taken = {}, {}
  for at = 1, #due, 2 do
    local lane = string.match(due[at], '%d+$')
    local count = taken[lane] or 0
    if count < perLane then
      found[#found + 1], found[#found + 2] = due[at], due[at + 1]
      taken[lane] = count + 1
    end
  end
  return found
end

local nextRetry = redis.call('ZRANGEBYSCORE', KEYS[5], '(' .. now, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
local mark = rollout[6] or ''
return {
  rollout[1] or '', rollout[2], rollout[3] or '0',
  redis.call('HGETALL', KEYS[2]),
  readPending(), readRetries(),
  nextRetry[2] or '',
  redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', '(' .. overdueBefore, 'LIMIT', 0, pageSize),
  mark, mark == knownMark and '' or redis.call('GET', KEYS[6]) or '',
  rollout[7] or '1'
}
`);

/** What the view script answers. */
export type ViewReply = readonly [
  json: string,
  rev: string,
  brake: string,
  counters: readonly string[],
  pending: readonly string[],
  retries: readonly string[],
  nextRetryAt: string,
  overdue: readonly string[],
  groupsMark: string,
  groups: string,
  version: string,
];

/** Reads all of a view but the rollout itself, and the groups of its plan. */
export function decodeView(reply: ViewReply, rollout: Rollout, groups: PlanGroups): StoredView {
  const [, , brake, counterReply, pending, retries, nextRetryAt, overdue] = reply;
  const counters = parseCounters(counterReply);
  const count = counters.get(counterField.learnedCount) ?? 0;
  const sumMs = counters.get(counterField.learnedSumMs) ?? 0;
  return {
    rollout,
    waves: rollout.waves.map((_wave, index) => waveSummaryOf(counters, index)),
    groups,
    slotsTaken: counters.get(counterField.slots) ?? 0,
    ...groupSummariesOf(counters),
    candidates: decodeCandidates(pending, retries),
    nextRetryAt: nextRetryAt === '' ? null : Number(nextRetryAt),
    overdue: overdue.map(Number),
    braked: brake === '1',
    learned: { count, meanMs: count === 0 ? 0 : sumMs / count },
  };
}

/** Candidates by lane, lanes in order; within a lane as the script found them: by wave and place, or by instant. */
function decodeCandidates(pending: readonly string[], retries: readonly string[]): readonly LaneQueue[] {
  const lanes = new Map<number, { retries: Candidate[]; pending: Candidate[] }>();
  const laneOf = (lane: number) => {
    const queue = lanes.get(lane) ?? { retries: [], pending: [] };
    lanes.set(lane, queue);
    return queue;
  };
  for (let at = 0; at + 1 < pending.length; at += 2) {
    const { lane, order } = parsePendingScore(Number(pending[at + 1]));
    laneOf(lane).pending.push({ collectorId: Number(pending[at]), order });
  }
  for (let at = 0; at + 1 < retries.length; at += 2) {
    const [collectorId, lane] = (retries[at] ?? '').split(':');
    laneOf(Number(lane)).retries.push({ collectorId: Number(collectorId), order: Number(retries[at + 1]) });
  }
  return [...lanes].sort(([a], [b]) => a - b).map(([lane, queue]) => ({ lane, ...queue }));
}
