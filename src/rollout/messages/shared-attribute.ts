import { formatAttributes } from '../model/attributes.ts';
import type { SharedAttribute } from '../model/shared-attribute.ts';

/** What failures have in common: `22 of 23 failures have osName=Windows* (22 of 66 there, 1 of 46 elsewhere)`. */
export function sharedAttributeWords({ attributes, failed, tried, elsewhere }: SharedAttribute): string {
  const all = failed + elsewhere.failed;
  const share = all === failed ? `all ${failed}` : `${failed} of ${all}`;
  const figures = `${failed} of ${tried} there, ${elsewhere.failed} of ${elsewhere.tried} elsewhere`;
  return `${share} failures have ${formatAttributes(attributes)} (${figures})`;
}
