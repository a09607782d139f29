import { z } from 'zod';
import { listBuildHistory } from './builds.ts';
import { whoAmI } from './caller.ts';
import { getRolloutCourse } from './course.ts';
import { explainCollector, holdSubject, listHolds, readAudit, releaseSubject } from './holds.ts';
import { listPolicies, previewStart, startPolicy } from './policies.ts';
import { previewReload, reloadConfig } from './reload.ts';
import {
  getRollout,
  listRolloutCollectors,
  listRolloutEvents,
  listRollouts,
  listRolloutVerbs,
  reportRollout,
} from './rollouts.ts';
import {
  abortRollout,
  approveRollout,
  pauseRollout,
  previewRollback,
  resumeRollout,
  retryRollout,
  rollBackRollout,
  skipRolloutSoak,
} from './verbs.ts';

/** The prefix of all paths of the admin API. */
export const adminApiPath = '/api/v1';

/** The body of every error of the admin API. */
export const AdminErrorBody = z
  .object({
    code: z.string().describe('For programs: refused, notFound, unavailable, unauthorized, …'),
    message: z.string().describe('For people.'),
  })
  .meta({ id: 'Error' });
export type AdminErrorBody = z.infer<typeof AdminErrorBody>;

/** Every operation of the admin API. Fixed paths come before `{id}`. */
export const adminApi = [
  whoAmI,
  listPolicies,
  previewStart,
  startPolicy,
  previewReload,
  reloadConfig,
  listRollouts,
  getRollout,
  listRolloutCollectors,
  getRolloutCourse,
  listRolloutEvents,
  listRolloutVerbs,
  reportRollout,
  pauseRollout,
  resumeRollout,
  approveRollout,
  skipRolloutSoak,
  abortRollout,
  previewRollback,
  rollBackRollout,
  retryRollout,
  holdSubject,
  releaseSubject,
  listHolds,
  readAudit,
  listBuildHistory,
  explainCollector,
] as const;
