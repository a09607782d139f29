import { z } from 'zod';
import { absentWhenEmpty, defineOperation, integerText } from '../operation.ts';

// The specification documents no payloads (collector-api.md §4.5), so bodies pass through.
const anyBody = z.unknown();
// A caller may request long pages of results. No daemon does.
const resultsBytesMax = 32 * 1024 * 1024;
const searchJobId = z.object({ searchJobId: z.string().min(1) });

/** The response sets the session cookie that later calls for the job must carry (collector-api.md §5.5). */
export const createSearchJob = defineOperation({
  name: 'createSearchJob',
  summary: 'Create a search job',
  route: 'POST /search/jobs',
  body: anyBody,
  answer: { status: 202, body: anyBody },
  errors: ['forbidden'],
  source: 'collector-api.md §4.5, §5',
});

export const getSearchJob = defineOperation({
  name: 'getSearchJob',
  summary: 'Get the state of a search job',
  route: 'GET /search/jobs/{searchJobId}',
  params: searchJobId,
  answer: { status: 200, body: anyBody },
  errors: ['forbidden'],
  source: 'collector-api.md §4.5, §5',
});

/** The specification omits the last segment of the results path, so any one is accepted. */
export const listSearchJobResults = defineOperation({
  name: 'listSearchJobResults',
  summary: 'List messages or records of a search job',
  route: 'GET /search/jobs/{searchJobId}/{results}',
  params: searchJobId.extend({ results: z.string().min(1) }),
  query: z.object({
    offset: absentWhenEmpty(integerText({ min: 0 }).optional()).optional(),
    limit: absentWhenEmpty(integerText({ min: 1 }).optional()).optional(),
  }),
  answer: { status: 200, body: anyBody, bytesMax: resultsBytesMax },
  errors: ['forbidden'],
  source: 'collector-api.md §4.5',
});

/** Not in the specification: the public guide has it, and the vendor's own clients end each search with it. */
export const deleteSearchJob = defineOperation({
  name: 'deleteSearchJob',
  summary: 'Delete a search job',
  route: 'DELETE /search/jobs/{searchJobId}',
  params: searchJobId,
  answer: { status: 200, body: anyBody },
  errors: ['forbidden'],
  source: 'decision 46',
});
