import { testSecrets } from '../test-secrets.ts';

const forms = formsOf(testSecrets);
const leaks = new Set<string>();

/**
 * Searches output for the secrets of the tests: of a test, of a daemon in its process, or of a command that it ran.
 * @param source names who printed it
 */
export function watchOutput(source: string, text: string): void {
  for (const [form, name] of forms) if (text.includes(form)) leaks.add(`${source} shows ${name}`);
}

/** The leaks found since the last call, without the secrets themselves. */
export function takeLeaks(): readonly string[] {
  const found = [...leaks].sort();
  leaks.clear();
  return found;
}

/** Each secret in every form in which it travels, with its name. */
function formsOf(secrets: typeof testSecrets): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const add = (name: string, secret: string) => {
    found.set(secret, name);
    found.set(Buffer.from(secret).toString('base64'), `${name}, in Base64`);
    found.set(Buffer.from(secret).toString('base64url'), `${name}, in Base64`);
  };
  for (const [name, secret] of Object.entries(secrets)) {
    if (typeof secret === 'string') {
      add(name, secret);
      // A password that is masked up to its first @ shows the rest.
      for (const form of [...secret.split('@'), encodeURIComponent(secret)])
        if (form !== secret) add(`${name}, in part or encoded`, form);
    } else {
      add(`${name}.accessKey`, secret.accessKey);
      add(`${name}, as it signs in`, `${secret.accessId}:${secret.accessKey}`);
    }
  }
  return found;
}
