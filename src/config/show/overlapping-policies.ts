import type { Policy, Selection, Selector } from '../../rollout/model/policy.ts';
import { quote } from '../source/config-error.ts';

/** Two policies of one config that claim the very same collectors. */
export interface OverlappingPolicies {
  readonly first: string;
  readonly second: string;
  /** For a person. */
  readonly words: string;
}

/**
 * Finds policies that claim the very same collectors for certain: whatever the fleet is, as their selections say the
 * same. Each policy is reported once, with the first one that it is like. Others may overlap too, which only a fleet shows.
 */
export function findOverlappingPolicies(policies: readonly Policy[]): readonly OverlappingPolicies[] {
  const firstBySelection = new Map<string, string>();
  return policies.flatMap(({ name, select }) => {
    const selection = meaningOf(select);
    if (selection === undefined) return [];
    const first = firstBySelection.get(selection);
    if (first === undefined) {
      firstBySelection.set(selection, name);
      return [];
    }
    const words = `the policies ${quote(first)} and ${quote(name)} select the very same collectors; each collector goes with whichever plans it first`;
    return [{ first, second: name, words }];
  });
}

/** The same text for selections that mean the same, whatever their order; undefined for one without any collector. */
function meaningOf({ include, exclude }: Selection): string | undefined {
  const excluded = exclude.map(selectorMeaning);
  if (excluded.includes(everyCollector)) return undefined;
  return JSON.stringify([selectorMeaning(include), [...new Set(excluded)].sort()]);
}

function selectorMeaning({ fields = {}, ...keys }: Selector): string {
  const fieldEntries = Object.entries(fields).map(
    ([field, patterns]) => [`fields.${field}`, patterns] as const,
  );
  return JSON.stringify(
    [...Object.entries(keys), ...fieldEntries]
      .map(([key, value]) => [key, Array.isArray(value) ? valuesMeaning(value) : value] as const)
      .filter(([, value]) => value !== anything)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

const everyCollector = '[]';
const anything = '*';

/** Globs match in any case, and `*` matches also what is empty. */
function valuesMeaning(values: ReadonlyArray<string | number>): ReadonlyArray<string> | typeof anything {
  const meanings = values.map((value) => {
    const text = String(value);
    return /^\/.*\/i?$/s.test(text) ? text : text.toLowerCase().replaceAll(/\*+/g, '*');
  });
  return meanings.includes(anything) ? anything : [...new Set(meanings)].sort();
}
