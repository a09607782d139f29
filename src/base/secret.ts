/**
 * A credential that cannot be printed by accident (P12). As a text, in JSON and in `util.inspect` it is `***`, and no own
 * property shows it in a copy or a listing. Only `reveal` returns the value.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The credential itself. Call it only where the bytes are sent to their receiver. */
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

/** A shorter access key may be an ordinary word: it is not hidden in names, and `config check` warns of it. */
export const hiddenKeyLengthMin = 8;

/**
 * Every form in which a response may repeat these credentials: verbatim, and as JSON, URLs and Base64 encode them. The
 * longest come first, because one may contain another.
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
