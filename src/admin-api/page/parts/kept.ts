import { effect, type Signal, signal } from '@preact/signals';

/**
 * A choice of the person, which this browser keeps.
 * @param isValid a stored value may come from another version, or from a hand
 */
export function keptSignal<Value>(
  key: string,
  first: Value,
  isValid: (value: unknown) => value is Value,
): Signal<Value> {
  const kept = signal(load(key, first, isValid));
  effect(() => {
    const text = JSON.stringify(kept.value);
    try {
      localStorage.setItem(key, text);
    } catch {
      // The choice lasts as long as the page, where the browser keeps nothing.
    }
  });
  return kept;
}

function load<Value>(key: string, first: Value, isValid: (value: unknown) => value is Value): Value {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? '');
    return isValid(value) ? value : first;
  } catch {
    return first;
  }
}
