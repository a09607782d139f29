import { runInLanes } from '../lanes.ts';
import { answerParent, startChild } from '../processes/child-process.ts';
import { type AttributeBrief, type AttributeTrial, runAttributeTrial } from './attribute-trial.ts';
import { runTrial, type Trial, type TrialBrief } from './trial.ts';

type Brief = TrialBrief | AttributeBrief;
type TrialOf<B extends Brief> = B extends AttributeBrief ? AttributeTrial : Trial;

/** Runs trials in processes of their own, so many at once; the results stand in the order of the briefs. */
export async function runTrials<B extends Brief>(
  briefs: readonly B[],
  processes: number,
): Promise<ReadonlyArray<TrialOf<B>>> {
  const idle = Array.from({ length: processes }, () => startChild(new URL(import.meta.url)));
  const all = [...idle];
  const run = async (brief: B): Promise<TrialOf<B>> => {
    const child = idle.pop();
    if (child === undefined) throw new Error('more trials at once than processes');
    const trial = await child.ask<TrialOf<B>>(brief);
    idle.push(child);
    return trial;
  };
  try {
    return await runInLanes(
      briefs.map((brief) => () => run(brief)),
      processes,
    );
  } finally {
    await Promise.all(all.map((child) => child.stop()));
  }
}

if (process.send !== undefined && process.argv[1] === new URL(import.meta.url).pathname) {
  answerParent<Brief>((brief) => ('hidden' in brief ? runAttributeTrial(brief) : runTrial(brief)));
}
