import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineOperation } from '../../../src/contract/operation.ts';
import { mountOperations } from '../../../src/http/operation-handlers.ts';

const readThing = defineOperation({
  name: 'readThing',
  route: 'GET /thing',
  answer: { status: 200, body: z.object({}) },
  idempotent: true,
  source: 'test',
});

it('an API of which an operation has no handler is refused, when compiled and when run', () => {
  // @ts-expect-error readThing has no handler
  expect(() => mountOperations([readThing], { prefix: '', handlers: {} })).toThrow(/readThing/);
});
