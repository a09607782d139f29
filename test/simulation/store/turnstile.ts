/** Lets one call after the other through, in the order in which they come. */
export interface Turnstile<Call> {
  /** The call that is inside. */
  inside(): Call | undefined;
  /** Resolves when the call is inside. */
  enter(call: Call): Promise<void>;
  /** The call that is inside leaves. */
  leave(): void;
  /** Resolves when nobody is inside; undefined when nobody is. */
  empty(): Promise<void> | undefined;
}

export function makeTurnstile<Call>(): Turnstile<Call> {
  const waiting: Array<{ readonly call: Call; readonly go: () => void }> = [];
  let inside: Call | undefined;
  const awaitEmpty: Array<() => void> = [];
  return {
    inside: () => inside,
    enter: (call) =>
      new Promise((go) => {
        if (inside !== undefined) {
          waiting.push({ call, go });
          return;
        }
        inside = call;
        go();
      }),
    leave: () => {
      const next = waiting.shift();
      inside = next?.call;
      next?.go();
      if (next === undefined) for (const resolve of awaitEmpty.splice(0)) resolve();
    },
    empty: () => (inside === undefined ? undefined : new Promise((resolve) => void awaitEmpty.push(resolve))),
  };
}
