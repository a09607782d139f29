import { parseCollectorId } from '../../base/names.ts';
import { toPrintable } from '../../base/safe-text.ts';
import type { SourcePlace } from '../../collector-api/management/source-client.ts';
import { isRefusedWith } from '../../collector-api/wire/client-refusals.ts';
import { isNameSupported } from '../../collector-api/wire/collector-name.ts';
import type { Collector } from '../../contract/collector-management/collectors.ts';
import { type Source, sourceNameOf } from '../../contract/collector-management/sources.ts';
import type { Answer } from '../../orchestrator/ports/fleet-service.ts';
import { UsageFailure } from '../shell/command.ts';
import type { ServiceDesk } from './with-management.ts';

/**
 * Finds a collector by id or name: digits are tried as an id first. A name that a request cannot carry is looked up in the
 * whole list.
 * @throws CommandFailure when there is no such collector
 */
export async function findCollector(desk: ServiceDesk, idOrName: string): Promise<Collector> {
  const { collectors } = desk.management;
  const id = parseCollectorId(idOrName);
  if (id !== undefined) {
    const found = known(desk, await collectors.get(id, desk.stop));
    if (found !== undefined) return found.resource;
  }
  if (isNameSupported(idOrName)) {
    const found = known(desk, await collectors.getByName(idOrName, desk.stop));
    if (found !== undefined) return found.resource;
  } else {
    const all = desk.orFail(await collectors.list(undefined, desk.stop));
    const found = all.find(({ name }) => name === idOrName);
    if (found !== undefined) return found;
  }
  const what = id === undefined ? 'the name' : 'the id or the name';
  throw new UsageFailure(`no collector has ${what} ${toPrintable(idOrName)}`);
}

/** A source of a collector, and how a request names it. */
interface FoundSource {
  readonly collector: Collector;
  readonly source: Source;
  readonly place: SourcePlace;
}

/** Finds a source by its id or its name. @throws CommandFailure when there is no such collector or source */
export async function findSource(
  desk: ServiceDesk,
  inCollector: string,
  idOrName: string,
): Promise<FoundSource> {
  const collector = await findCollector(desk, inCollector);
  const sources = desk.orFail(await desk.management.sources.list(collector.id, desk.stop));
  const source =
    sources.find(({ id }) => String(id) === idOrName) ??
    sources.find((each) => sourceNameOf(each) === idOrName);
  if (source?.id !== undefined)
    return { collector, source, place: { collectorId: collector.id, sourceId: source.id } };
  throw new UsageFailure(
    toPrintable(`collector ${collector.id} ${collector.name} has no source ${idOrName}`),
  );
}

/** `source 8 nginx-access`, made printable. */
export function sourceLabel(source: { readonly id?: number | undefined; readonly name?: unknown }): string {
  const name = sourceNameOf(source);
  return toPrintable(`source ${source.id}${name === undefined ? '' : ` ${name}`}`);
}

/** undefined: the service has no such resource. @throws CommandFailure for any other failure */
function known<T>(desk: ServiceDesk, answer: Answer<T>): T | undefined {
  if (answer.ok) return answer.value;
  const isUnknown = answer.failure.kind === 'notFound' || isRefusedWith(answer.failure, 'InvalidCollector');
  return isUnknown ? undefined : desk.orFail(answer);
}
