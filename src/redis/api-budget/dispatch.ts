import { startStopwatch } from '../../base/stopwatch.ts';
import type { DurationMs } from '../../base/time.ts';
import { type ApiBudgetLedger, budgetIsAway, lateMaxMs, type Reservation, type Slot } from './ledger.ts';
import type { Nap } from './nap.ts';
import type { SlotSlack } from './slot-slack.ts';
import type { WaitingRequests } from './waiting-requests.ts';

export interface DispatchParts {
  readonly ledger: Pick<ApiBudgetLedger, 'reserve' | 'giveBack' | 'left'>;
  readonly requests: WaitingRequests;
  readonly slack: SlotSlack;
  readonly nap: Nap;
  /** False during a pause that this process knows of. */
  readonly maySend: () => boolean;
  readonly isClosed: () => boolean;
}

type Granted = Extract<Reservation, { kind: 'granted' }>;

/** How late it is for a slot; negative before its instant. */
type LatenessOf = (slot: Slot) => DurationMs;

// A reservation takes a millisecond. Without Redis the call waits until Redis is back.
const reservedWithinMs: DurationMs = 2_000;

// The slots requested in one call. Only near ones are granted, so more would not be.
const slotsPerCallMax = 8;

/** Reserves slots and uses them until no request waits. */
export async function dispatchWhileWaiting(parts: DispatchParts): Promise<void> {
  const { requests, nap, isClosed } = parts;
  while (requests.size > 0 && !isClosed()) {
    const { slackMs } = parts.slack;
    const latenessOf = makeLatenessOf();
    const reservation = await reserve(parts, slackMs);
    if (reservation.kind !== 'granted') await waitOut(parts, reservation);
    else {
      await useAll(parts, reservation, { slackMs, latenessOf });
      // The other daemons get the part of the rate that this slot held up.
      if (slackMs > 0 && requests.size > 0 && !isClosed()) await nap.sleep(slackMs, false);
    }
  }
}

/** Call it before the reservation: a machine that is suspended from then on reaches its slots late. */
function makeLatenessOf(): LatenessOf {
  const since = performance.now();
  const ageMs = startStopwatch();
  return ({ at }) => ageMs() - (at - since);
}

/** While Redis does not answer, requests wait no longer than in any other outage. */
async function reserve({ ledger, requests }: DispatchParts, slackMs: DurationMs): Promise<Reservation> {
  const refuse = (): void => {
    timer = setTimeout(refuse, requests.refuseLate(budgetIsAway));
  };
  let timer = setTimeout(refuse, reservedWithinMs);
  try {
    return await ledger.reserve(Math.min(requests.size, slotsPerCallMax), slackMs);
  } finally {
    clearTimeout(timer);
  }
}

async function waitOut(
  { requests, nap }: DispatchParts,
  { kind, retryInMs, outage }: Exclude<Reservation, { kind: 'granted' }>,
): Promise<void> {
  const refuseInMs = outage === null ? retryInMs : requests.refuseLate(outage);
  if (requests.size > 0) await nap.sleep(Math.min(retryInMs, refuseInMs), kind === 'full');
}

/** Uses each slot at its instant, and returns permits of slots that are reached too late. */
async function useAll(
  parts: DispatchParts,
  granted: Granted,
  { slackMs, latenessOf }: { readonly slackMs: DurationMs; readonly latenessOf: LatenessOf },
): Promise<void> {
  const { ledger, slack } = parts;
  let missedByMs: DurationMs | undefined;
  let usedLateMs: DurationMs | undefined;
  for (const slot of granted.slots) {
    const lateMs = await waitFor(parts, () => latenessOf(slot));
    if (lateMs > lateMaxMs + slackMs) {
      // Infinite after the clock was set back, which does not show how late this process is.
      if (Number.isFinite(lateMs)) missedByMs = lateMs;
      ledger.giveBack(slot);
    } else {
      usedLateMs = lateMs;
      use(parts, slot, granted);
    }
  }
  if (usedLateMs !== undefined) slack.used(usedLateMs);
  else if (missedByMs !== undefined) slack.missed(missedByMs);
}

/** Waits for the slot's instant. @returns the lateness */
async function waitFor({ nap, isClosed }: DispatchParts, lateness: () => DurationMs): Promise<DurationMs> {
  for (let lateMs = lateness(); ; lateMs = lateness()) {
    if (lateMs >= 0 || isClosed()) return lateMs;
    await nap.sleep(-lateMs, false);
  }
}

/** Gives the slot to the request that is now first. */
function use(
  { ledger, requests, nap, maySend }: DispatchParts,
  slot: Slot,
  { single, isProbe }: Granted,
): void {
  const request = maySend() ? requests.takeNext() : undefined;
  if (request === undefined) {
    ledger.giveBack(slot);
    return;
  }
  const giveBack = (): void => {
    ledger.giveBack(slot);
    nap.permitReturned();
  };
  const left = (): void => ledger.left(slot, request.budgetClass);
  request.grant({ waitedMs: performance.now() - request.since, single, isProbe, left, giveBack });
}
