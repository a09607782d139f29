import type { DurationMs } from '../../base/time.ts';
import type { MessageRule } from '../model/policy.ts';
import type { RefusedCreate } from '../model/upgrade.ts';

/** What went wrong with a request to the service, as classified by its adapter. */
export type ServiceFailure =
  /**
   * No usable answer: connection, time-out, 5xx, HTML, broken JSON. `sent`: the service may have acted on the request.
   * `isUnreached`: no part of an answer arrived.
   */
  | {
      readonly kind: 'unavailable';
      readonly sent: boolean;
      readonly isUnreached?: true;
      readonly detail: string;
    }
  /** 429: the service did not act on the request, and the whole budget pauses (P8). */
  | { readonly kind: 'throttled'; readonly detail: string }
  /** 401 after this key has worked: sign-ins are throttled (field-facts.md, The wire). */
  | { readonly kind: 'signInThrottled'; readonly retryAfterMs: DurationMs; readonly detail: string }
  /** 401 on the first call or repeatedly, 403, 415, 301: affects all collectors. */
  | { readonly kind: 'misconfigured'; readonly detail: string }
  /** 404, with its code if it had one. */
  | { readonly kind: 'notFound'; readonly code?: string; readonly detail: string }
  /** Any other refusal, with its code if it had one (collector-api.md §7.5). */
  | { readonly kind: 'refused'; readonly code: string; readonly status?: number; readonly detail: string }
  /** The daemon cancelled the request because it is shutting down. */
  | { readonly kind: 'cancelled'; readonly sent: boolean };

export const failureClasses = [
  'retry',
  'again',
  'defer',
  'adopt',
  'inDoubt',
  'observe',
  'permanent',
  'hold',
] as const;
/** What a failure means for the upgrade (DESIGN §4, What a failure means). */
export type FailureClass = (typeof failureClasses)[number];

// Names of the same refusals at different endpoints (collector-api.md §7.3).
const unknownCollectorCodes = ['collector.invalid', 'InvalidCollector', 'BadRequestCollectorId'];
const wrongTypeCodes = ['collector.type.invalid', 'InvalidCollectorType'];

interface FailureRow {
  readonly when: (failure: ServiceFailure) => boolean;
  readonly class: FailureClass;
}

/** Evaluated in order; first match wins. */
const createRows: readonly FailureRow[] = [
  { when: (f) => (f.kind === 'unavailable' || f.kind === 'cancelled') && f.sent, class: 'inDoubt' },
  { when: (f) => f.kind === 'unavailable' || f.kind === 'cancelled', class: 'again' },
  { when: (f) => f.kind === 'throttled' || f.kind === 'signInThrottled', class: 'again' },
  { when: (f) => f.kind === 'misconfigured', class: 'hold' },
  { when: (f) => isCode(f, 'collector.not.alive'), class: 'defer' },
  { when: (f) => isCode(f, 'collector.in.upgrading'), class: 'adopt' },
  // A person may have deleted or upgraded the collector since our last observation.
  { when: (f) => refusedOf(f) !== undefined, class: 'observe' },
  { when: (f) => f.kind === 'refused' && wrongTypeCodes.includes(f.code), class: 'permanent' },
  // An unknown refusal may be temporary or permanent, so it spends an attempt (P13).
  { when: () => true, class: 'retry' },
];

/** Classifies a failed create. */
export function classifyCreateFailure(failure: ServiceFailure): FailureClass {
  return createRows.find((row) => row.when(failure))?.class ?? 'retry';
}

/** What has to be observed to interpret a refused create; undefined if the refusal itself is clear. */
export function refusedOf(failure: ServiceFailure): RefusedCreate['of'] | undefined {
  if (failure.kind === 'notFound') return 'collector';
  if (failure.kind !== 'refused') return undefined;
  if (unknownCollectorCodes.includes(failure.code)) return 'collector';
  return failure.code === 'collector.version.invalid' ? 'version' : undefined;
}

/** Classifies a failed poll. An unknown refusal is no evidence about the collector, so the poll is repeated (P13). */
export function classifyPollFailure(failure: ServiceFailure): 'again' | 'hold' | 'gone' {
  if (failure.kind === 'misconfigured') return 'hold';
  if (failure.kind === 'notFound') return 'gone';
  return 'again';
}

function isCode(failure: ServiceFailure, code: string): boolean {
  return failure.kind === 'refused' && failure.code === code;
}

/**
 * What a failed task's message means. Exact texts are not public (field-facts.md, Upgrades), so rules match words.
 * Evaluated in order after the policy's own rules; first match wins. Permanent causes come first: waiting does not help
 * against "permission denied while downloading".
 */
const defaultMessageRules: readonly MessageRule[] = [
  // A check that timed out has no result: "timed out while checking privileges".
  { words: ['timed out while', 'time-out while', 'timeout while'], class: 'retry' },
  {
    words: [
      ...['permission', 'not permitted', 'privilege', 'administrator', 'non-root', 'run as', 'runs as'],
      ...['not supported', 'unsupported', 'not possible', 'disabled'],
    ],
    class: 'permanent',
  },
  { words: ['space', 'in use', 'locked', 'unable to remove'], class: 'retryLater' },
  { words: ['time-out', 'timeout', 'timed out', 'network', 'download', 'connection'], class: 'retry' },
];

/** Classifies a failed task's message. @returns `unexplained` if no rule matches: retry once, then permanent. */
export function classifyTaskMessage(
  message: string,
  policyRules: readonly MessageRule[],
): MessageRule['class'] | 'unexplained' {
  const text = message.toLowerCase();
  const rule = [...policyRules, ...defaultMessageRules].find(({ words }) =>
    words.some((word) => text.includes(word.toLowerCase())),
  );
  return rule?.class ?? 'unexplained';
}

/** Whether the service could not be reached: no connection, or no answer in time. */
export function isUnreached(failure: ServiceFailure): boolean {
  return failure.kind === 'unavailable' && failure.isUnreached === true;
}

/** A failure as text. */
export function describeFailure(failure: ServiceFailure): string {
  if (failure.kind === 'cancelled') return 'stopped by us';
  const { detail } = failure;
  return failure.kind === 'refused' && failure.code !== '' ? `${failure.code}: ${detail}` : detail;
}
