import { isDeepStrictEqual } from 'node:util';
import type { FieldAccess } from '../../contract/collector-management/field-access.ts';
import type { Answer } from '../../orchestrator/ports/fleet-service.ts';
import { isConflict, refuseUnsent } from '../wire/client-refusals.ts';

/** A resource as a GET returned it, with the ETag that an update must name (collector-api.md §4.4). */
export interface Tagged<Resource> {
  readonly resource: Resource;
  /** null when the service returned none. */
  readonly etag: string | null;
}

/**
 * Computes changes from the current resource, by field name. `undefined` removes a field. After a conflict it runs
 * again on the newer resource, so it must have no side effects.
 */
export type Edit<Resource> = (current: Resource) => Readonly<Record<string, unknown>>;

export interface Changed<Resource> {
  /** The resource before the update. */
  readonly before: Resource;
  readonly after: Resource;
  /** False when nothing differed, so that no update was sent. */
  readonly isChanged: boolean;
}

/** Someone else changed the resource between our GET and our PUT. */
export interface Conflict<Resource> {
  readonly seen: Resource;
  readonly now: Resource;
}

export interface ChangeOptions<Resource> {
  readonly onConflict?: (conflict: Conflict<Resource>) => void;
  readonly signal?: AbortSignal;
}

interface ChangeParts<Resource extends object> {
  readonly access: FieldAccess;
  readonly read: () => Promise<Answer<Tagged<Resource>>>;
  readonly write: (resource: Resource, etag: string) => Promise<Answer<Resource>>;
  readonly edit: Edit<Resource>;
  readonly onConflict: ((conflict: Conflict<Resource>) => void) | undefined;
}

/** One conflict is a coincidence. A second one means that someone else is editing the resource. */
const conflictsMax = 1;

/**
 * Reads a resource, edits it and writes it back with its ETag. Fields that the edit does not name, including unknown
 * ones, are kept. After a conflict it tries once more with the newer resource.
 */
export async function changeResource<Resource extends object>(
  parts: ChangeParts<Resource>,
): Promise<Answer<Changed<Resource>>> {
  let seen: Resource | undefined;
  for (let conflicts = 0; ; conflicts += 1) {
    const read = await parts.read();
    if (!read.ok) return read;
    const { resource: before, etag } = read.value;
    if (seen !== undefined) parts.onConflict?.({ seen, now: before });
    const edited = applyEdit(before, parts.edit(before), parts.access);
    if (!edited.ok) return edited;
    if (isDeepStrictEqual(edited.value, before)) {
      return { ok: true, value: { before, after: before, isChanged: false } };
    }
    if (etag === null) {
      return refuseUnsent(
        'client.etag.missing',
        'The service returned no ETag, so an update could undo changes by someone else.',
      );
    }
    const written = await parts.write(edited.value, etag);
    if (written.ok) return { ok: true, value: { before, after: written.value, isChanged: true } };
    if (!isConflict(written.failure) || conflicts >= conflictsMax) return written;
    seen = before;
  }
}

/** Ignores changes of transient fields, so that a saved document can be passed whole. */
function applyEdit<Resource extends object>(
  current: Resource,
  changes: Readonly<Record<string, unknown>>,
  access: FieldAccess,
): Answer<Resource> {
  const values = new Map(Object.entries(current));
  for (const [name, value] of Object.entries(changes)) {
    if (access.transient.includes(name)) continue;
    if (access.notModifiable.includes(name)) {
      if (isDeepStrictEqual(value, values.get(name))) continue;
      return refuseUnsent('client.field.fixed', `${name} can't be changed: it is read-only.`);
    }
    if (value === undefined) values.delete(name);
    else values.set(name, value);
  }
  return { ok: true, value: Object.fromEntries(values) as Resource };
}

/** Removes the fields that the service sets itself, so that a document of another resource can be passed. */
export function withoutServiceFields(
  draft: Readonly<Record<string, unknown>>,
  fields: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(draft).filter(([name]) => !fields.includes(name)));
}
