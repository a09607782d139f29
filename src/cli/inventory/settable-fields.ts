import { nearestText } from '../../base/names.ts';
import { collectorAccess, sourceAccess } from '../../contract/collector-management/field-access.ts';
import { UsageFailure } from '../shell/command.ts';
import type { Assignment } from './assignments.ts';

/** The request that a `--set` is for. Only a create may set the type of a collector. */
export type SetFor = 'new collector' | 'collector' | 'source';

/**
 * Checks the names of `--set` before anything is sent: the service drops a field that it does not know.
 * @throws CommandFailure with every field that nobody can set
 */
export function checkSettable(set: readonly Assignment[], setFor: SetFor): void {
  const complain = setFor === 'source' ? sourceComplaint : collectorComplaint;
  const names = [...new Set(set.map(({ name }) => name))];
  const complaints = names.flatMap((name) => complain(name, setFor) ?? []);
  if (complaints.length > 0) throw new UsageFailure(complaints.join('; '));
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

/**
 * Checks the fields of a file for a new collector. Fields that the service sets itself are allowed: the file may be the output
 * of `collectors show --json`. @throws CommandFailure with every field that no collector has
 */
export function checkKnownFields(names: readonly string[], file: string): void {
  const known = Object.values(collectorAccess).flat();
  const complaints = names
    .filter((name) => !isOneOf(known, name))
    .flatMap((name) => collectorComplaint(name, 'new collector') ?? []);
  if (complaints.length > 0) throw new UsageFailure(`${file}: ${complaints.join('; ')}`);
}

/** Fields of a source file that look misspelled. Each may be a field of the source's type, so it is sent nevertheless. */
export function likelySlips(names: readonly string[]): readonly string[] {
  const known = Object.values(sourceAccess).flat();
  return names.flatMap((name) => {
    const nearest = isOneOf(known, name) ? undefined : nearestField(name);
    return nearest === undefined ? [] : [`is "${name}" a typo for "${nearest}"? It is sent as it is`];
  });
}

/** Source types have fields of their own, so an unknown name is refused only where it looks like a typo. */
function sourceComplaint(name: string): string | undefined {
  const { modifiable, notModifiable, transient } = sourceAccess;
  if (isOneOf(notModifiable, name) || isOneOf(transient, name))
    return `${name} can't be set: the service sets it itself`;
  if (isOneOf(modifiable, name)) return undefined;
  const nearest = nearestField(name);
  if (nearest === undefined) return undefined;
  return `is "${name}" a typo for "${nearest}"? If not, set it in a file: --from FILE`;
}

function nearestField(name: string): string | undefined {
  const nearest = nearestText(name, sourceAccess.modifiable);
  // `scanInterval` is no typo for `interval`.
  return nearest === undefined || Math.abs(nearest.length - name.length) > 2 ? undefined : nearest;
}

function isOneOf(names: readonly string[], name: string): boolean {
  return names.includes(name);
}
