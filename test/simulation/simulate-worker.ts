import { playSeeds, type Seeds } from './play-seeds.ts';

// One of the processes that `simulate` starts: it plays the seeds it is given, tells what they came to, and ends.
process.once('message', (seeds) => {
  void playSeeds(seeds as Seeds).then((totals) => {
    const { user, system } = process.cpuUsage();
    process.send?.({ totals, cpuMs: (user + system) / 1_000 }, () => process.disconnect());
  });
});
