import type { DurationMs } from '../../../src/base/time.ts';
import type { SharedAttribute } from '../../../src/contract/admin/rollout-status.ts';
import { makeSharedAttributes } from '../../../src/orchestrator/records/shared-attributes.ts';
import { formatAttributes, membersWith } from '../../../src/rollout/model/attributes.ts';
import { type Flavour, flavours, makeFates } from './fates.ts';
import { type AttributedFleet, type Hidden, hideAttribute } from './hide-attribute.ts';
import { playUpwave, type UpwavePlay } from './play-upwave.ts';
import { attributesPolicy } from './policy.ts';

export interface AttributeBrief {
  readonly seed: number;
  readonly hidden: Hidden;
  readonly passPauseMs: DurationMs;
}

/** What one play reported about the collectors that the build breaks. */
export interface Named {
  readonly label: string;
  /** It names those that the build breaks, or nearly; whatever it calls them. */
  readonly isRight: boolean;
}

/** One fleet with a build that breaks an attribute that nobody spread by. */
export interface AttributeTrial extends AttributeBrief {
  readonly flavour: Flavour;
  readonly brokenSize: number;
  readonly brokenLabel: string;
  /** With `isolate: attributes`; what was named first, and what was held. */
  readonly byAttributes: UpwavePlay;
  readonly named: readonly Named[];
  readonly held: readonly Named[];
  /** The same policy without it: a canary of each stratum, and strata held alone. Not played where the build is good. */
  readonly byStrata: UpwavePlay | null;
}

// Of all failures beside the broken ones: collectors that fail at every try, and at the first alone.
const atRandom = { always: 0.01, once: 0.03 };

export async function runAttributeTrial({
  seed,
  hidden,
  passPauseMs,
}: AttributeBrief): Promise<AttributeTrial> {
  const fleet = hideAttribute(seed, hidden);
  const flavour = flavours[seed % flavours.length] ?? 'taskFails';
  const fateOf = makeFates(seed, fleet.broken, flavour, atRandom);
  const named: SharedAttribute[] = [];
  const weighs = makeSharedAttributes();
  const sharedAttributes: typeof weighs = {
    ...weighs,
    of: async (store, view) => {
      const found = await weighs.of(store, view);
      if (found !== undefined && found !== null) named.push(found);
      return found;
    },
  };
  const brief = { seed, passPauseMs, policy: attributesPolicy, sharedAttributes };
  const byAttributes = await playUpwave(brief, fleet, fateOf);
  const byStrata =
    hidden.kind === 'nobody'
      ? null
      : await playUpwave({ ...brief, policy: { ...attributesPolicy, isolate: 'strata' } }, fleet, fateOf);
  const groups = byAttributes.heldStrata.flatMap(({ attributes }) =>
    attributes === undefined ? [] : [attributes],
  );
  return {
    ...{ seed, hidden, passPauseMs, flavour },
    brokenSize: fleet.broken.size,
    brokenLabel: fleet.brokenLabel,
    byAttributes,
    named: distinct(named.map(({ attributes }) => judge(fleet, attributes))),
    held: groups.map((attributes) => judge(fleet, attributes)),
    byStrata,
  };
}

// Attributes go together: who names the host prefix of a rack's only role has named the rack.
const alikeMin = 0.9;

function judge({ table, broken }: AttributedFleet, attributes: SharedAttribute['attributes']): Named {
  const members = membersWith(table, attributes);
  const both = members.filter((id) => broken.has(id)).length;
  const either = members.length + broken.size - both;
  return { label: formatAttributes(attributes), isRight: either > 0 && both / either >= alikeMin };
}

/** In the order in which they were named first. */
function distinct(named: readonly Named[]): readonly Named[] {
  return [...new Map(named.map((each) => [each.label, each])).values()];
}
