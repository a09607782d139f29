/**
 * What distinguishes an account of the service from others: the origin of the configured base URL, and a keyed hash of an access
 * id. The API has no "who am I", so another access id may be another key of the same account.
 */
export interface AccountMark {
  readonly origin: string;
  /** Keyed with a random key of this installation: the access id can't be guessed from it (P12). */
  readonly accessIdHash: string;
}

/** How a rollout stands to the account of this daemon. Only `own` lets the daemon do anything for the rollout (P5). */
export type AccountStatus =
  | { readonly kind: 'own' }
  /** Not compared yet, or the service did not answer; `reason` is empty or says why. */
  | { readonly kind: 'unknown'; readonly reason: string }
  /** The service shows other collectors than those of the plan. */
  | ({ readonly kind: 'another' } & SampleFigures)
  /** Some are the same, or too few could be compared. */
  | ({ readonly kind: 'unclear' } & SampleFigures);

/** What came of comparing some collectors of the plan with what the service shows now. */
export interface SampleFigures {
  readonly compared: number;
  /** Shown by the service under the same id and name. */
  readonly matched: number;
  /** Shown under the same id, with another name. */
  readonly renamed: number;
}

/** A collector of the plan, and its name at the service now; undefined: the service has no collector with this id. */
export interface SampledCollector {
  readonly name: string;
  readonly nameShown: string | undefined;
}

/** Collectors that are compared, at most: each costs a request. */
export const sampleMax = 8;

// Of a rollout that another access id began. Ids and names of two accounts may meet by chance, but not three times.
export const matchesMin = 3;

// Collectors are deleted and renamed in every fleet, which shows nothing; more than one in four is no longer the same fleet.
const matchesPerOther = 3;

// One account has hundreds of keys at most, and few are used one after another while a rollout is still running.
const marksMax = 8;

/** Whether one of the rollout's marks is this one; `untied`: the rollout has none, from an earlier version. */
export function compareMarks(
  marks: readonly AccountMark[] | undefined,
  own: AccountMark,
): 'own' | 'other' | 'untied' {
  if (marks === undefined || marks.length === 0) return 'untied';
  const isOwn = marks.some(
    ({ origin, accessIdHash }) => origin === own.origin && accessIdHash === own.accessIdHash,
  );
  return isOwn ? 'own' : 'other';
}

/** Adds a mark of the same account; the newest are kept. */
export function withMark(
  marks: readonly AccountMark[] | undefined,
  mark: AccountMark,
): readonly AccountMark[] {
  return [...(marks ?? []), mark].slice(-marksMax);
}

/**
 * Judges by a sample of its collectors whether a rollout belongs to the account that was asked. Two accounts with the same
 * ids and names can't be distinguished.
 * @param tie `other`: another access id, or another address, began it. `untied`: an earlier version began it, and nothing
 *   blocks this account, so one match is enough
 */
export function judgeAccount(
  sample: readonly SampledCollector[],
  tie: 'other' | 'untied',
): Exclude<AccountStatus, { kind: 'unknown' }> {
  const matched = sample.filter(({ name, nameShown }) => nameShown === name).length;
  const renamed = sample.filter(
    ({ name, nameShown }) => nameShown !== undefined && nameShown !== name,
  ).length;
  const figures = { compared: sample.length, matched, renamed };
  const isEnough = matched >= (tie === 'untied' ? 1 : matchesMin);
  if (isEnough && (sample.length - matched) * matchesPerOther <= matched) return { kind: 'own' };
  return { kind: sample.length > 0 && matched === 0 ? 'another' : 'unclear', ...figures };
}

/** True where nothing may be done for the rollout until a person has acted. */
export function needsPerson(
  status: AccountStatus,
): status is Extract<AccountStatus, { kind: 'another' | 'unclear' }> {
  return status.kind === 'another' || status.kind === 'unclear';
}
