import type { Operation } from '../../contract/operation.ts';
import type { CallInput } from '../../http/client.ts';
import type { Answer, Reserved } from '../../orchestrator/ports/fleet-service.ts';
import type { Sent, SignedOut } from './answer-reader.ts';
import type { Move } from './moved-base-url.ts';
import type { Leaving, Place, RequestSender } from './request-sender.ts';
import type { ServiceAddresses } from './service-addresses.ts';
import { failedAnswer, type ServiceCall } from './service-call.ts';
import type { ServiceSession } from './service-sessions.ts';
import { unlessAborted } from './take-grant.ts';

/** Takes a request's place in the budget, and follows a redirect in either phase. */
export type TakePlace = <Params, Query, Body, Result>(
  operation: Operation<Params, Query, Body, Result>,
  input: CallInput<NoInfer<Params>, NoInfer<Query>, NoInfer<Body>>,
  call: ServiceCall,
) => Promise<Answer<Reserved<Sent<Result>>> | Move>;

export function makeTakePlace(parts: {
  readonly addresses: ServiceAddresses;
  readonly sender: RequestSender;
  readonly follow: (session: ServiceSession, move: Move) => Promise<void>;
}): TakePlace {
  const { addresses, sender, follow } = parts;

  /** @param releaseSignIn lets the requests continue that wait for this sign-in */
  async function reserve(
    session: ServiceSession,
    operation: Operation,
    call: ServiceCall,
    releaseSignIn: (result: Answer<unknown> | Move | undefined) => void,
  ): Promise<Answer<Place> | Move> {
    let place: Answer<Place> | Move | undefined;
    try {
      // Another request may have followed a redirect while this one waited for a sign-in.
      place =
        session === addresses.current()
          ? await sender.reserve(session, operation, call)
          : { ok: 'moved', to: addresses.current().baseUrl };
      if (place.ok === 'moved') await follow(session, place);
      return place;
    } finally {
      if (place?.ok !== true) releaseSignIn(place);
    }
  }

  return async <Params, Query, Body, Result>(
    operation: Operation<Params, Query, Body, Result>,
    input: CallInput<NoInfer<Params>, NoInfer<Query>, NoInfer<Body>>,
    call: ServiceCall,
  ) => {
    const session = addresses.current();
    const entry = await unlessAborted(session.signInLock.enter(call.signal), call.signal);
    if (entry === undefined) return failedAnswer({ kind: 'cancelled', sent: false });
    if (entry.kind === 'failed') return failedAnswer(entry.failure);
    const releaseSignIn = (result?: Answer<unknown> | Move | SignedOut): void => {
      if (entry.kind === 'signIn') entry.done(result?.ok === false ? result.failure : undefined);
    };
    const place = await reserve(session, operation, call, releaseSignIn);
    if (place.ok !== true) return place;
    const request = (leaving: Leaving) =>
      session.http.call(operation, input, {
        signal: call.signal,
        ...leaving,
        headers: call.ifMatch === undefined ? {} : { 'if-match': call.ifMatch },
        trailingSlash: call.trailingSlash,
      });
    const giveUp = (): void => {
      place.value.giveUp();
      releaseSignIn();
    };
    const send = async () => {
      let sent: Sent<Result> | undefined;
      try {
        sent = await place.value.send(request);
        if (sent.ok === 'moved') await follow(session, sent);
        return sent;
      } finally {
        releaseSignIn(sent);
      }
    };
    return { ok: true, value: { giveUp, send } };
  };
}
