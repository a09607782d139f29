import { invariant } from '../base/assert.ts';
import type { HttpRequest } from '../http/http-exchange.ts';
import type { AccessKey } from './account-scenario.ts';
import type { Account } from './accounts.ts';

/** Who makes a request, once it has passed the sign-in. */
export interface Caller {
  readonly account: Account;
  readonly may: AccessKey['may'];
  /** The session it came in, or that was opened for it. */
  readonly sessionId: string;
  /** False: it brought no session cookie at all. */
  readonly broughtCookie: boolean;
}

/** Remembers who makes each request while it is being served. */
export class Callers {
  readonly #callers = new WeakMap<HttpRequest, Caller>();

  note(request: HttpRequest, caller: Caller): void {
    this.#callers.set(request, caller);
  }

  of(request: HttpRequest): Caller {
    const caller = this.#callers.get(request);
    invariant(caller !== undefined, 'a handler is reached only after the sign-in');
    return caller;
  }
}
