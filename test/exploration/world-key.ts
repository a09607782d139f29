import { createHash } from 'node:crypto';
import type { StoreImage } from '../../src/rehearsal/store/memory-rollout-store.ts';
import type { Actor, SmallWorld } from './small-world.ts';

/**
 * A short text that two worlds share where the same can happen in both. The two daemons are alike, so that worlds in which they
 * have changed places share it, and so do those whose actors began in another order.
 */
export function keyOf(world: SmallWorld): string {
  const [text = ''] = [keyWith(world, 0), keyWith(world, 1)].sort();
  return hashOf(text);
}

/** @param first the daemon that is named 0 */
function keyWith(world: SmallWorld, first: number): string {
  const nameOf = (daemon: number) => (daemon === first ? 0 : 1);
  const actors = world.actors
    .map((actor) => ({ id: actor.id, text: `${nameOf(actor.daemon)}/${textOf(actor)}` }))
    .sort((a, b) => (a.text < b.text ? -1 : 1));
  const creates = world.creates
    .map(({ actor, ...rest }) => `${actors.findIndex(({ id }) => id === actor)}/${JSON.stringify(rest)}`)
    .sort();
  const { now, faults, verbs, stopped, hasForgotten, buildHolds, looksAt } = world;
  const trusted = first === 0 ? world.trustedSince : world.trustedSince.toReversed();
  return [
    imageText(world.store),
    world.before.map(imageText).join('|'),
    objectText(world.service),
    actors.map(({ text }) => text).join(' '),
    creates.join(' '),
    world.jobs
      .map((job) => `${job.rolloutId}/${job.collectorId}@${job.dueAt}`)
      .sort()
      .join(' '),
    nameOf(world.leader),
    JSON.stringify([
      now,
      faults,
      verbs.length,
      stopped,
      hasForgotten,
      buildHolds.length,
      looksAt,
      trusted,
      world.fence,
    ]),
  ].join('\n');
}

function textOf(actor: Actor): string {
  return `${JSON.stringify(actor.work)}@${actor.startedAt} ${actor.log.map(objectText).join('')} ${actor.open.map(({ name }) => name).join(',')}`;
}

const imageTexts = new WeakMap<StoreImage, string>();

function imageText(image: StoreImage): string {
  const known = imageTexts.get(image);
  if (known !== undefined) return known;
  const rollouts = image.rollouts.map(({ rollout, groups, brake, upgrades, intents, counts }) =>
    [
      objectText(rollout),
      objectText(groups),
      brake,
      upgrades.map(objectText).join(' '),
      JSON.stringify([
        intents,
        counts.show(rollout.waves.length).waves.map(({ lastChangeAt }) => lastChangeAt),
      ]),
    ].join('/'),
  );
  const text = hashOf([...rollouts, JSON.stringify([image.active, image.fences])].join('\n'));
  imageTexts.set(image, text);
  return text;
}

const texts = new WeakMap<object, string>();

/** A hash of an object that never changes. */
function objectText(object: object): string {
  const known = texts.get(object);
  if (known !== undefined) return known;
  const text = hashOf(JSON.stringify(object, withMaps));
  texts.set(object, text);
  return text;
}

function withMaps(_key: string, value: unknown): unknown {
  return value instanceof Map ? [...(value as ReadonlyMap<unknown, unknown>)] : value;
}

function hashOf(text: string): string {
  return createHash('sha1').update(text).digest('base64').slice(0, 16);
}
