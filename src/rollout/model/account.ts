/**
 * Identifies an account of the service: the origin of the configured base URL, and a keyed hash of an access id. The API
 * can't tell the account of a key, so a different access id may be another key of the same account.
 */
export interface AccountMark {
  readonly origin: string;
  /** Keyed with a random key of this installation: the access id can't be guessed from it (P12). */
  readonly accessIdHash: string;
}

/** Whether a rollout belongs to the account of this daemon. The daemon works only on `own` rollouts (P5). */
export type AccountStatus =
  | { readonly kind: 'own' }
  /** Not compared yet, or the service did not answer; `reason` may be empty. */
  | { readonly kind: 'unknown'; readonly reason: string }
  /** None of the compared collectors exists in this account. */
  | ({ readonly kind: 'another' } & SampleFigures)
  /**
   * Some collectors match, or too few could be compared. `beganAt`: enough match, but the rollout began at this address and
   * under another access id, so this may be a copy of its account.
   */
  | ({ readonly kind: 'unclear'; readonly beganAt?: string } & SampleFigures);

/** The account is not, or not yet, known to be that of this daemon. */
export type ForeignAccount = Exclude<AccountStatus, { readonly kind: 'own' }>;

/** @param account absent for an account that needs no comparison, which is the daemon's own */
export function isForeign(account: AccountStatus | undefined): account is ForeignAccount {
  return account !== undefined && account.kind !== 'own';
}

/** The result of comparing some collectors of the plan with those of the service. */
export interface SampleFigures {
  readonly compared: number;
  /** Shown by the service under the same id and name. */
  readonly matched: number;
  /** Shown under the same id, with another name. */
  readonly renamed: number;
}

/** A collector of the plan, and its current name at the service; undefined if the service has no collector with this id. */
export interface SampledCollector {
  readonly name: string;
  readonly nameShown: string | undefined;
}

/** How many collectors are compared at most. Each costs a request. */
export const sampleMax = 8;

// Needed if another access id began the rollout. Ids and names of two accounts may match by chance, but not three times.
export const matchesMin = 3;

// Some collectors are deleted or renamed in every fleet. If more than one in four is, it is a different fleet.
const matchesPerOther = 3;

// Few access keys are used one after another during a rollout.
const marksMax = 8;

/** Whether one of a rollout's marks is this one. */
export function hasMark(marks: readonly AccountMark[], own: AccountMark): boolean {
  return marks.some(({ origin, accessIdHash }) => origin === own.origin && accessIdHash === own.accessIdHash);
}

/** Adds a mark of the same account; the newest are kept. */
export function withMark(marks: readonly AccountMark[], mark: AccountMark): readonly AccountMark[] {
  return [...marks, mark].slice(-marksMax);
}

/**
 * Judges by a sample of collectors whether a rollout that another access id or address began belongs to this account. Two
 * accounts with the same ids and names can't be distinguished, such as a restored one and its original. So an address and an
 * access id that are both new need an operator.
 */
export function judgeAccount(
  sample: readonly SampledCollector[],
  { marks, own }: { readonly marks: readonly AccountMark[]; readonly own: AccountMark },
): Exclude<AccountStatus, { kind: 'unknown' }> {
  const matched = sample.filter(({ name, nameShown }) => nameShown === name).length;
  const renamed = sample.filter(
    ({ name, nameShown }) => nameShown !== undefined && nameShown !== name,
  ).length;
  const figures = { compared: sample.length, matched, renamed };
  if (matched >= matchesMin && (sample.length - matched) * matchesPerOther <= matched) {
    const isLinked = marks.some(
      ({ origin, accessIdHash }) => origin === own.origin || accessIdHash === own.accessIdHash,
    );
    // Without any mark nothing shows that the address is new.
    const beganAt = isLinked ? undefined : marks.at(-1)?.origin;
    return beganAt === undefined ? { kind: 'own' } : { kind: 'unclear', beganAt, ...figures };
  }
  return { kind: sample.length > 0 && matched === 0 ? 'another' : 'unclear', ...figures };
}

/** True if the daemon must not work on the rollout until a person has acted. */
export function needsPerson(
  status: AccountStatus,
): status is Extract<AccountStatus, { kind: 'another' | 'unclear' }> {
  return status.kind === 'another' || status.kind === 'unclear';
}
