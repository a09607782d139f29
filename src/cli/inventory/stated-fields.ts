import { readYaml } from '../../config/source/yaml-source.ts';
import { UsageFailure } from '../shell/command.ts';
import { orUsageFailure } from '../shell/open-config.ts';
import { type Assignment, applyAssignments, type KnownFields } from './assignments.ts';
import { checkKnownFields, checkSettable, type SetFor } from './settable-fields.ts';

/** The fields that the command line gives for a create or an update. */
export interface StatedFields {
  /** A JSON or YAML file. */
  readonly from?: string;
  readonly set?: readonly Assignment[];
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads `--from FILE`: the fields themselves, or below the name in which the API wraps them. An exported document may have
 * fields that nobody can set; `--set` may not name such fields. A file for a new collector may have only known fields.
 * @returns one entry without a file, and one entry for each item of a list
 * @throws CommandFailure when the file is unreadable or holds something else, or a field is wrong
 */
export function readStatedFields({ from, set = [] }: StatedFields, setFor: SetFor): readonly Fields[] {
  checkSettable(set, setFor);
  if (from === undefined && set.length === 0) {
    throw new UsageFailure('no fields given: use --from FILE, or --set name=value');
  }
  if (from === undefined) return [{}];
  const wrapper = wrapperOf(setFor);
  const document = orUsageFailure(() => readYaml(from).value);
  const list = isFields(document) ? (document[`${wrapper}s`] ?? document[wrapper] ?? document) : document;
  const entries: readonly unknown[] = Array.isArray(list) ? list : [list];
  if (entries.length > 0 && entries.every(isFields)) {
    if (setFor === 'new collector') checkKnownFields(entries.flatMap(Object.keys), from);
    return entries;
  }
  throw new UsageFailure(
    `${from}: holds no fields of a ${wrapper}, such as {"name": "…"} or {"${wrapper}": {…}}`,
  );
}

/** The same where one entry is all that may be stated. @throws CommandFailure */
export function readOneStatement(stated: StatedFields, setFor: SetFor): Fields {
  const [fields = {}, ...others] = readStatedFields(stated, setFor);
  if (others.length > 0) throw new UsageFailure(`one ${wrapperOf(setFor)} at a time`);
  return fields;
}

/** What the API wraps the fields in. */
function wrapperOf(setFor: SetFor): 'collector' | 'source' {
  return setFor === 'source' ? 'source' : 'collector';
}

/** The fields of a file with those of `--set` on top, for a resource as it is. @throws CommandFailure */
export function combineFields(
  fields: {
    readonly current: Fields;
    readonly file: Fields;
    readonly set: readonly Assignment[] | undefined;
  },
  known: KnownFields,
): Record<string, unknown> {
  const assigned = applyAssignments({ ...fields.current, ...fields.file }, fields.set ?? [], known);
  return { ...fields.file, ...assigned };
}

function isFields(value: unknown): value is Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
