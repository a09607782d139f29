import { describe, expect, it } from 'vitest';
import { changeRollout, stopRollout } from '../../../../src/orchestrator/records/change-rollout.ts';
import type { RolloutView } from '../../../../src/rollout/model/rollout.ts';
import { aRollout, askedFor, startedAt as t } from '../../../support/builders.ts';
import { aHouse } from '../../../support/house.ts';

const { id } = aRollout();
const pause = ({ rollout: { state } }: RolloutView) =>
  state === 'running' ? ({ kind: 'paused', at: t, reason: askedFor('by ann') } as const) : undefined;
const resume = (view: RolloutView) =>
  view.rollout.state === 'paused'
    ? ({ kind: 'resumed', at: t, reason: askedFor('by bob'), view } as const)
    : undefined;

/** A pause by ann, while something happens as she waits for what is leaving. @returns what she saw, and in how many turns */
async function pauseWhile(
  meanwhile: (
    house: Awaited<ReturnType<typeof aHouse>>,
    turn: number,
    putBack: () => void,
  ) => Promise<unknown>,
) {
  const house = await aHouse();
  const putBack = house.store.keep();
  let turns = 0;
  const countFreshIntents = async () => {
    turns += 1;
    await meanwhile(house, turns, putBack);
    return 0;
  };
  const store = { ...house.store, countFreshIntents };
  const before = await stopRollout({ ...house.parts, store }, id, 'ann', pause);
  return { before: before?.rollout.state, after: (await house.now()).state, turns };
}

describe('stopping a rollout (P4)', () => {
  it('is repeated when Redis lost it, and is answered only then', async () => {
    const stopped = await pauseWhile(async (_house, turn, putBack) => turn === 1 && putBack());
    expect(stopped).toEqual({ before: 'running', after: 'paused', turns: 2 });
  });

  it('is repeated when Redis lost it and the rollout has changed in another way since', async () => {
    const { after } = await pauseWhile(async ({ parts }, turn, putBack) => {
      if (turn > 1) return;
      putBack();
      await changeRollout(parts, id, 'daemon', () => ({ kind: 'brakeLifted', at: t }));
    });
    expect(after).toBe('paused');
  });

  it('does not undo what another operator does meanwhile', async () => {
    const stopped = await pauseWhile(({ parts }) => changeRollout(parts, id, 'bob', resume));
    expect(stopped).toMatchObject({ after: 'running', turns: 1 });
  });

  it('is an event that names the operator beside the reason, and not in it (P16)', async () => {
    const { parts, store } = await aHouse();
    const reason = { kind: 'asked', by: 'ann', words: 'the pager rang' } as const;
    await changeRollout(parts, id, 'ann', () => ({ kind: 'paused', at: t, reason }));
    const events = await store.readEvents(id, { limit: 10 });
    expect(events).toMatchObject([{ event: 'rollout.paused', by: 'ann', reason: 'the pager rang' }]);
  });
});
