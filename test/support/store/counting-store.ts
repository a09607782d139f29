/** Counts calls of a store's methods, each of which would be a round trip. */
export function countingStore<Store extends object>(
  store: Store,
): { readonly store: Store; readonly calls: ReadonlyMap<string, number>; total(): number } {
  const calls = new Map<string, number>();
  const counted = new Proxy(store, {
    get: (target, name, receiver) => {
      const value: unknown = Reflect.get(target, name, receiver);
      if (typeof value !== 'function') return value;
      return (...args: readonly unknown[]) => {
        calls.set(String(name), (calls.get(String(name)) ?? 0) + 1);
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
  return { store: counted, calls, total: () => [...calls.values()].reduce((sum, count) => sum + count, 0) };
}
