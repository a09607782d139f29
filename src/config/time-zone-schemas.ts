import { z } from 'zod';
import { nearestText } from '../base/nearest-text.ts';
import { isTimeZone } from '../base/time-zone.ts';
import { collectorZone } from '../rollout/policy.ts';
import { quote } from './config-error.ts';

/** An IANA time zone. */
export const TimeZoneSchema = z.string().superRefine((text, context) => {
  if (!isTimeZone(text)) context.addIssue(problemOf(text, []));
});

/** The time zone of a window or freeze: an IANA one, or `collector` for each collector's own. */
export const CalendarZoneSchema = z.string().superRefine((text, context) => {
  if (text !== collectorZone && !isTimeZone(text)) context.addIssue(problemOf(text, [collectorZone]));
});

/** @param alsoKnown what may stand there beside a zone */
function problemOf(text: string, alsoKnown: readonly string[]): string {
  const nearest = nearestText(text, [...alsoKnown, ...Intl.supportedValuesOf('timeZone')]);
  const examples = ['Europe/Berlin', ...alsoKnown].join(', or ');
  const hint = nearest === undefined ? `write one such as ${examples}` : `did you mean ${quote(nearest)}?`;
  return `${quote(text)} is no IANA time zone; ${hint}`;
}
