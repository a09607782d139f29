import type { BatchPlayed } from './play-in-processes.ts';
import { playSeeds, type Seeds } from './play-seeds.ts';

// One of the processes that `simulate` starts: it plays the seeds it is given, tells what they came to, and is given
// the next, or ends.
process.on('message', (seeds) => {
  void playSeeds(seeds as Seeds).then((totals) => {
    const { user, system } = process.cpuUsage();
    const played: BatchPlayed = { totals, cpuMs: (user + system) / 1_000 };
    // The parent was killed meanwhile: nobody waits for the totals.
    process.send?.(played, undefined, undefined, (error) => error !== null && process.exit());
  });
});
process.once('disconnect', () => process.exit());
