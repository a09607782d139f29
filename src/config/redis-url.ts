/** What is wrong with the URL of a Redis server; the words never repeat it, since it may hold a password (P12). */
export type RedisUrlProblem = 'shape' | 'passwordInQuery';

/** @returns undefined for `redis://host`, `rediss://host`, `unix:///path` and `/path` */
export function redisUrlProblem(text: string): RedisUrlProblem | undefined {
  if (hasPasswordInQuery(text)) return 'passwordInQuery';
  return isRedisUrl(text) ? undefined : 'shape';
}

/** The client takes any of its settings from there, also after a path, where nobody would look for a secret. */
function hasPasswordInQuery(text: string): boolean {
  const start = text.indexOf('?');
  if (start === -1) return false;
  return [...new URLSearchParams(text.slice(start + 1)).keys()].some((key) => /passw/i.test(key));
}

function isRedisUrl(text: string): boolean {
  // The client would read what follows two slashes as a host with its password.
  if (text.startsWith('/')) return text.length > 1 && !text.startsWith('//');
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.hash !== '') return false;
  if (url.protocol === 'unix:') return url.pathname.length > 1 && url.host === '';
  return (
    (url.protocol === 'redis:' || url.protocol === 'rediss:') &&
    url.hostname !== '' &&
    /^(\/\d*)?$/.test(url.pathname)
  );
}
