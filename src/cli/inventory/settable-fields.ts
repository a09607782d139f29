import { nearestText } from '../../base/names.ts';
import { collectorAccess, sourceAccess } from '../../contract/collector-management/field-access.ts';
import { CommandFailure } from '../shell/command.ts';
import { exitCodes } from '../shell/exit-codes.ts';
import type { Assignment } from './assignments.ts';

/** What a `--set` is for. Only a create states the type of a collector. */
export type SetFor = 'new collector' | 'collector' | 'source';

/**
 * Checks the names of `--set` before anything is sent: the service drops a field that it does not know.
 * @throws CommandFailure with every field that nobody can set
 */
export function checkSettable(set: readonly Assignment[], setFor: SetFor): void {
  const complain = setFor === 'source' ? sourceComplaint : collectorComplaint;
  const names = [...new Set(set.map(({ name }) => name))];
  const complaints = names.flatMap((name) => complain(name, setFor) ?? []);
  if (complaints.length > 0) throw new CommandFailure(exitCodes.usageOrConfig, complaints.join('; '));
}

function collectorComplaint(name: string, setFor: SetFor): string | undefined {
  const { modifiable, notModifiable, transient } = collectorAccess;
  const settable = setFor === 'new collector' ? [...modifiable, 'collectorType'] : [...modifiable];
  if (isOneOf(settable, name)) return undefined;
  const list = `fields to set: ${settable.join(', ')}`;
  if (isOneOf(notModifiable, name) || isOneOf(transient, name))
    return `${name} can't be set: the service sets it itself; ${list}`;
  const nearest = nearestText(name, settable);
  return `a collector has no field "${name}"; ${nearest === undefined ? list : `did you mean "${nearest}"?`}`;
}

/** Types of sources have fields of their own, so an unknown name is refused only where it looks like a slip. */
function sourceComplaint(name: string): string | undefined {
  const { modifiable, notModifiable, transient } = sourceAccess;
  if (isOneOf(notModifiable, name) || isOneOf(transient, name))
    return `${name} can't be set: the service sets it itself`;
  if (isOneOf(modifiable, name)) return undefined;
  const nearest = nearestText(name, modifiable);
  // `scanInterval` is no slip of `interval`.
  if (nearest === undefined || Math.abs(nearest.length - name.length) > 2) return undefined;
  return `is "${name}" a slip of "${nearest}"? If not, give it in a file: --from FILE`;
}

function isOneOf(names: readonly string[], name: string): boolean {
  return names.includes(name);
}
