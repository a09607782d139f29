import { isDeepStrictEqual } from 'node:util';
import type { FieldAccess } from '../../contract/collector-management/field-access.ts';
import type { Answer } from '../../orchestrator/ports/fleet-service.ts';
import { isConflict, refuse } from '../wire/client-refusals.ts';

/** A resource as a GET showed it, and the ETag that an update of it must name (collector-api.md §4.4). */
export interface Tagged<Resource> {
  readonly resource: Resource;
  /** null when the service gave none. */
  readonly etag: string | null;
}

/**
 * What to set, by the names of the fields, made from the resource as it is. Runs again on a newer one after a conflict,
 * so it must have no other effect. `undefined` leaves a field out.
 */
export type Edit<Resource> = (current: Resource) => Readonly<Record<string, unknown>>;

export interface Changed<Resource> {
  /** What the update was made from. */
  readonly before: Resource;
  readonly after: Resource;
  /** False when everything was so already, and no update was sent. */
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

/** One conflict is a coincidence; at the second, someone else is at work on it, and people must talk. */
const conflictsMax = 1;

/**
 * Reads a resource, edits it and writes it back with its ETag. Fields that the edit does not name, unknown ones included,
 * go back as they came. After a conflict it does so once more, from what is there then.
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
      return refuse(
        'client.etag.missing',
        'The service named no ETag, so an update could undo what someone else changed.',
      );
    }
    const written = await parts.write(edited.value, etag);
    if (written.ok) return { ok: true, value: { before, after: written.value, isChanged: true } };
    if (!isConflict(written.failure) || conflicts >= conflictsMax) return written;
    seen = before;
  }
}

/** Transient fields stay as they are: a document that was saved yesterday may be given whole. */
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
      return refuse('client.field.fixed', `${name} can't be changed: the service lets nobody set it.`);
    }
    if (value === undefined) values.delete(name);
    else values.set(name, value);
  }
  return { ok: true, value: Object.fromEntries(values) as Resource };
}

/** What a create may state: nothing that the service sets itself, so that a document of another one can be given. */
export function withoutServiceFields(
  draft: Readonly<Record<string, unknown>>,
  fields: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(draft).filter(([name]) => !fields.includes(name)));
}
