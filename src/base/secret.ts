/**
 * A credential that can't be printed by accident (P12): as a text, in JSON, in `util.inspect` and so in logs it is
 * `***`, and it has no own property that a copy or a listing would show. Only `reveal` gives the value.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The credential itself. Call it where the bytes leave for the one they are meant for, nowhere else. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '***';
  }

  toJSON(): string {
    return '***';
  }

  /** What `console.log` and `util.inspect` show; the symbol is Node's registered one. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '***';
  }
}

/**
 * Every form in which these credentials may come back from others: as they are, and as JSON, URLs and Base64 write them.
 * The longest first: one may hold another.
 */
export function echoedForms(secrets: readonly string[]): readonly string[] {
  const forms = secrets.flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('base64url'),
  ]);
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}
