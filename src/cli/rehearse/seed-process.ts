/** Plays seeds for `seed-pool.ts`, and ends with it. The first message is the scene, every other message an order. */
import { once } from 'node:events';
import { playSeed, type Scene } from '../../rehearsal/play/play-seed.ts';
import type { SeedOrder } from './seed-pool.ts';

process.once('disconnect', () => process.exit(0));
const orders: SeedOrder[] = [];
let scene: Scene | undefined;
process.on('message', (message) => {
  if (scene === undefined) scene = message as Scene;
  else orders.push(message as SeedOrder);
});
for (;;) {
  const order = orders.shift();
  if (scene === undefined || order === undefined) await once(process, 'message');
  else process.send?.(await playSeed(scene, order.policy, order.seed));
}
