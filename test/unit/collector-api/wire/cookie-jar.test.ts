import { describe, expect, it } from 'vitest';
import { makeCookieJar } from '../../../../src/collector-api/wire/cookie-jar.ts';

const aJar = () => makeCookieJar({ now: () => Date.UTC(2026, 10, 21) });

describe('the cookie jar', () => {
  it('keeps a header short enough for any server: the oldest cookies go', () => {
    const jar = aJar();
    for (const name of ['a', 'b', 'c']) jar.store([`${name}=${name.repeat(3_500)}`]);
    expect(jar.headerFor('/')).toBe(`b=${'b'.repeat(3_500)}; c=${'c'.repeat(3_500)}`);
  });

  it('holds a bounded number of cookies: the newest', () => {
    const jar = aJar();
    jar.store(Array.from({ length: 25 }, (_, index) => `c${index}=${index}`));
    expect(jar.headerFor('/')?.split('; ')).toEqual(
      Array.from({ length: 20 }, (_, index) => `c${index + 5}=${index + 5}`),
    );
  });

  it('counts a cookie that is set again as new', () => {
    const jar = aJar();
    jar.store([`session=${'s'.repeat(3_500)}`, `old=${'o'.repeat(3_500)}`]);
    jar.store([`session=${'t'.repeat(3_500)}`]);
    jar.store([`new=${'n'.repeat(3_500)}`]);
    expect(jar.headerFor('/')).toBe(`session=${'t'.repeat(3_500)}; new=${'n'.repeat(3_500)}`);
  });

  it('forgets what was refused, for one path too, but not what has come since', () => {
    const jar = aJar();
    jar.store(['a=1; Path=/v1', 'b=2', 'c=3; Path=/other']);
    const sent = jar.headerFor('/v1/x');
    expect(sent).toBe('a=1; b=2');
    jar.store(['b=4']);
    jar.forgetSent(sent);
    expect(jar.secrets()).toEqual(['3', '4']);
    jar.forgetSent(undefined);
    expect(jar.secrets()).toEqual(['3', '4']);
  });
});
