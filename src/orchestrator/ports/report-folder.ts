import type { EpochMs } from '../../base/time.ts';

/** `reason`: why the directory could not be read or written, for people. */
export type FolderAnswer<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly reason: string };

/** The directory in which reports of ended rollouts are kept. The date of a file is the end of its rollout. */
export interface ReportFolder {
  /** Its path, for people. */
  readonly place: string;
  pathOf(file: string): string;
  /** Those of these files that are missing, or belong to an earlier end of the rollout. */
  listMissing(files: readonly string[], endedAt: EpochMs): Promise<FolderAnswer<readonly string[]>>;
  /** Writes a whole file or nothing, even when the process is killed meanwhile. */
  write(file: string, text: string, endedAt: EpochMs): Promise<FolderAnswer<null>>;
}
