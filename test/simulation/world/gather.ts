import type { Steering } from '../pairs/steering.ts';
import type { FaultKind } from '../setup.ts';
import type { ProcessModel } from './process-model.ts';

/**
 * Lets a call take its time until what is wanted beside a fault is there, and the fault happens.
 * @param forMs how long the call may take
 * @returns whether the fault happened
 */
export async function gatherFor(
  kind: FaultKind,
  { process, steering, struck, forMs }: GatherParts & { readonly forMs: number },
): Promise<boolean> {
  let isOver = false;
  const happen = () => {
    if (isOver || !process.isAlive()) return;
    isOver = true;
    struck(kind);
  };
  const end = steering.underWay(kind, happen);
  if (end === undefined) return false;
  const lookEveryMs = forMs / looks;
  for (let waitedMs = 0; !isOver && waitedMs < forMs; waitedMs += lookEveryMs)
    await process.wait(lookEveryMs);
  end();
  const happened = isOver;
  isOver = true;
  return happened;
}

export interface GatherParts {
  readonly process: Pick<ProcessModel, 'wait' | 'isAlive'>;
  readonly steering: Pick<Steering, 'underWay'>;
  readonly struck: (kind: FaultKind) => void;
}

const looks = 24;
