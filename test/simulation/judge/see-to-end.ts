import { rolloutReasonText } from '../../../src/rollout/messages/rollout-reasons.ts';
import type { UpgradeState } from '../../../src/rollout/model/upgrade.ts';
import type { Night } from '../night.ts';
import type { DaemonModel } from '../world/daemon-model.ts';
import { endWhatCannot, helpOut } from '../world/people.ts';
import { startNeeded } from '../world/starters.ts';

// Each help must get somewhere, so that the longest of the nights needs no more than this.
const helpsMax = 60;

const minuteMs = 60_000;
const ownEndMs = 10 * minuteMs;
const dayMs = 86_400_000;

/**
 * When nothing goes wrong any more and a patient person lets everything go on, each rollout comes to its end (P11): a
 * word that leads back to the very same rest is a violation, unless the build is gone, when the rollout is aborted.
 * @param rest runs the night until it rests again; false when it does not
 */
export async function seeToEnd(
  night: Night,
  helper: () => DaemonModel | undefined,
  rest: () => Promise<boolean>,
): Promise<void> {
  const { scheduler, verdicts } = night;
  const finish = async (work: Promise<boolean>): Promise<boolean> => {
    let done: boolean | undefined;
    void work.then((did) => {
      done = did;
    });
    await scheduler.run(scheduler.now() + dayMs, () => done !== undefined);
    verdicts.check('P11', done !== undefined, 'a verb got no answer within a day');
    return done === true;
  };
  const starter = night.setup.features.starts ? helper() : undefined;
  if (starter !== undefined && (await finish(startNeeded(night, starter))) && !(await rest())) return;
  let inVain = 0;
  for (let help = 0; help < helpsMax; help += 1) {
    const daemon = helper();
    if (daemon === undefined) return;
    const before = standing(night);
    if (before === '') return;
    const spoke = await finish(inVain < 2 ? helpOut(night, daemon) : endWhatCannot(night, daemon));
    if (!spoke) {
      // What was aborted last ends without further help.
      await scheduler.run(scheduler.now() + ownEndMs, () => standing(night) === '');
      break;
    }
    // What was just said has still to be heard.
    await scheduler.run(scheduler.now() + minuteMs, () => false);
    if (!(await rest())) return;
    const after = standing(night);
    inVain = after === before ? inVain + 1 : 0;
    verdicts.check('P11', inVain < 4, `resumed everything, without progress: ${after}`);
    if (inVain >= 4) return;
  }
  const open = standing(night);
  verdicts.check('P11', open === '', `not ended after ${helpsMax} verbs: ${open}`);
}

/** What is not over, and how it stands. */
function standing({ seen }: Night): string {
  return [...seen.all.values()]
    .filter(({ rollout }) => rollout.endedAt === null)
    .map(({ rollout, upgrades }) => {
      const states = [...upgrades.values()].map(
        ({ identity: { collectorId }, progress: { state }, tally: { attempts } }) =>
          `${collectorId} ${isTurnAwaited(state) ? 'awaits its turn' : state} ${attempts}`,
      );
      const { id, state, reason, plan, waves } = rollout;
      return `${id} ${state} (${rolloutReasonText(reason)}) ${plan.hash} ${waves.map((wave) => wave.state).join(' ')}: ${states.join(', ')}`;
    })
    .join('; ');
}

/** An upgrade that is put back waits from the third time on, which is no progress. */
function isTurnAwaited(state: UpgradeState): boolean {
  return state === 'pending' || state === 'retrying';
}
