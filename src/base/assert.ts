/** Ends a switch over a closed union: the types rule this branch out. @throws always */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`);
}

/** Checks an invariant. A failure is a bug in upwave. @throws when `holds` is false */
export function invariant(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(`invariant broken: ${message}`);
}
