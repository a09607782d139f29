import { InjectedFault } from '../night.ts';
import type { Turnstile } from './turnstile.ts';

/** What may happen to a call of an adapter on its way. */
export interface CallFaults {
  /** The connection is lost before a further command of the call. */
  isCut(): boolean;
  /** The answer of a command is lost, and the client sends it again. */
  isSentTwice(): boolean;
  /** Other calls come in before a further command of the call. */
  givesWay(): boolean;
  /** Waits in virtual time: never to return, when the daemon dies. */
  wait(): Promise<void>;
  /** Another number: the connection is another one by now. */
  connections(): number;
}

export interface RedisCallParts {
  readonly turnstile: Turnstile<RedisCall>;
  /** Absent for a call that nothing befalls. */
  readonly faults?: CallFaults | undefined;
  readonly onApplied?: () => void;
}

/** One call of an adapter, which may be several commands. */
export interface RedisCall {
  /** Sends a command after those before it. */
  send(command: () => Promise<unknown>): Promise<unknown>;
  /** False when other calls may have come in between its commands. */
  isWhole(): boolean;
  /** Its change has taken place, whatever becomes of the rest of the call. */
  applied(): void;
}

/**
 * Sends the commands of a call one by one, also those that the adapter sends in parallel: so the order of all commands of a
 * night, and what befalls them, follows from its seed alone.
 */
export function makeRedisCall({ turnstile, faults, onApplied }: RedisCallParts): RedisCall {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let sent = 0;
  let isWhole = true;
  let cut: InjectedFault | undefined;
  const loseConnection = (): never => {
    cut = new InjectedFault('the connection was lost between two commands');
    throw cut;
  };
  const giveWay = async ({ wait, connections }: CallFaults): Promise<void> => {
    isWhole = false;
    const before = connections();
    turnstile.leave();
    await wait();
    await turnstile.enter(call);
    if (connections() !== before) loseConnection();
  };
  const sendNext = async (command: () => Promise<unknown>): Promise<unknown> => {
    waiting -= 1;
    if (cut !== undefined) throw cut;
    if (faults !== undefined && sent > 0) {
      // By now, commands that are sent in parallel wait as well. Others must not come in between those.
      await Promise.resolve();
      if (waiting === 0 && faults.givesWay()) await giveWay(faults);
      if (faults.isCut()) loseConnection();
    }
    sent += 1;
    const reply = await command();
    return faults?.isSentTwice() === true ? command() : reply;
  };
  const call: RedisCall = {
    send: (command) => {
      waiting += 1;
      const go = () => sendNext(command);
      const reply = last.then(go, go);
      last = reply;
      return reply;
    },
    isWhole: () => isWhole,
    applied: () => onApplied?.(),
  };
  return call;
}
