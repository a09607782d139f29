import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../../../src/cli/shell/exit-codes.ts';
import { makeConsent } from '../../../../src/cli/shell/operator.ts';
import { makeSafeStream } from '../../../../src/cli/shell/safe-stream.ts';

/** One at a terminal, where a safe stream would show as text what moves the cursor. */
function aPerson(signal = new AbortController().signal) {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const ask = makeConsent({ yes: false, input, output: makeSafeStream(output).stream });
  const asked = ask('delete it?', signal).then(
    () => true,
    (error: unknown) => {
      expect(error).toMatchObject({ message: 'nothing changed', exitCode: exitCodes.finishedWithFailures });
      return false;
    },
  );
  return { input, output, asked };
}

describe('consent to a deletion', () => {
  it.each([
    ['y', true],
    ['YES ', true],
    ['', false],
    ['n', false],
    ['yesterday', false],
  ])('answered with "%s" is %s', async (words, isConsent) => {
    const { input, output, asked } = aPerson();
    input.write(`${words}\n`);
    expect(await asked).toBe(isConsent);
    expect(String(output.read())).toBe('delete it? [y/N] ');
  });

  it('is not given by Ctrl-C', async () => {
    const { output, asked } = aPerson();
    process.emit('SIGINT');
    expect(await asked).toBe(false);
    expect(String(output.read())).toBe('delete it? [y/N] \n');
  });

  it('is not given by an input that ends', async () => {
    const { input, asked } = aPerson();
    input.end();
    expect(await asked).toBe(false);
  });

  it('is not given by stopping the command', async () => {
    const stop = new AbortController();
    const { asked } = aPerson(stop.signal);
    stop.abort();
    expect(await asked).toBe(false);
  });

  it('is not requested with --yes', async () => {
    const ask = makeConsent({ yes: true, input: new PassThrough(), output: new PassThrough() });
    await expect(ask('delete it?')).resolves.toBeUndefined();
  });

  it('needs a person, and is refused immediately, without a terminal to ask at', () => {
    const parts = { yes: false, input: new PassThrough(), output: new PassThrough() };
    expect(() => makeConsent(parts)).toThrow(
      expect.objectContaining({ exitCode: exitCodes.heldOrNeedsAPerson }),
    );
  });
});
