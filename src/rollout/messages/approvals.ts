import type { UpgradeState } from '../model/upgrade.ts';
import { counted } from './sentences.ts';

/** The part of a wave that tells what its approval starts. */
interface AwaitedWave {
  readonly counts: Readonly<Record<UpgradeState, number>>;
  /** Waiting members of held strata, which are among the pending and retrying ones. */
  readonly setAside: number;
}

/** How many members start once a wave opens: those that wait, without those of held strata. */
function countStarting({ counts, setAside }: AwaitedWave): number {
  return Math.max(0, counts.pending + counts.retrying - setAside);
}

/** `46 collectors to 19.536-4, 24 more are set aside in held strata`. */
export function waveApprovalWords(wave: AwaitedWave, targetBuild: string): string {
  const { setAside } = wave;
  const aside =
    setAside === 0 ? '' : `, ${setAside} more ${setAside === 1 ? 'is' : 'are'} set aside in held strata`;
  return `${counted(countStarting(wave), 'collector')} to ${targetBuild}${aside}`;
}
