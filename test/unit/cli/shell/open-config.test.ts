import { expect, it } from 'vitest';
import { openConfig } from '../../../../src/cli/shell/open-config.ts';

it('a missing config names the command that writes a first one', () => {
  expect(() => openConfig('/nowhere/upwave.yaml', {})).toThrow(
    '/nowhere/upwave.yaml: there is no such file; `upwave init` writes a first one',
  );
});
