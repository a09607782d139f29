import { z } from 'zod';
import { defineOperation } from '../contract/operation.ts';
import type { RecordSnapshot } from './service-record.ts';

/** The service's own record over HTTP; no part of the Collector Management API. */
export const readRecord = defineOperation({
  name: 'readRecord',
  method: 'GET',
  path: '/reference/record',
  answer: { status: 200, body: z.custom<RecordSnapshot>() },
  idempotent: true,
  source: 'src/reference-service/README.md',
});
