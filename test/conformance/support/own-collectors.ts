import { randomBytes } from 'node:crypto';
import { read } from './answers.ts';
import type { Api } from './api.ts';
import { type CollectorShape, OneCollector, OneSource, type SourceShape } from './wire-shapes.ts';

/** Marks the collectors of the suite, and collides with no other name. */
const namePrefix = 'upwave-conformance';

/** The Hosted Collectors that the suite has created, so that all can be deleted again. */
export class OwnCollectors {
  readonly #api: Api;
  readonly #ids = new Set<number>();
  #goneId: Promise<number> | undefined;

  constructor(api: Api) {
    this.#api = api;
  }

  /** An unused name. */
  name(about = 'test'): string {
    return `${namePrefix}-${randomBytes(6).toString('hex')}-${about}`;
  }

  /** Creates a Hosted Collector with a name of its own. */
  async create(fields: Readonly<Record<string, unknown>> = {}): Promise<CollectorShape> {
    const collector = { collectorType: 'Hosted', name: this.name(), ...fields };
    return this.created(read(OneCollector, await this.#api.post('/collectors', { collector })).collector);
  }

  /** Notes a collector that a test has created itself. */
  created(collector: CollectorShape): CollectorShape {
    this.#ids.add(collector.id);
    return collector;
  }

  /** The id of a deleted collector, so that no request with it changes an existing one. */
  async goneId(): Promise<number> {
    this.#goneId ??= this.#makeGoneId();
    return this.#goneId;
  }

  /** Creates a source of a type that a Hosted Collector takes. */
  async createSource(
    collectorId: number,
    fields: Readonly<Record<string, unknown>> = {},
  ): Promise<SourceShape> {
    const source = { ...httpSource(this.name('source')), ...fields };
    return read(OneSource, await this.#api.post(`/collectors/${collectorId}/sources`, { source })).source;
  }

  async #makeGoneId(): Promise<number> {
    const { id } = await this.create();
    await this.#api.delete(`/collectors/${id}`);
    this.#ids.delete(id);
    return id;
  }

  async deleteAll(): Promise<void> {
    for (const id of this.#ids) await this.#api.delete(`/collectors/${id}`);
    this.#ids.clear();
  }
}

/** The smallest source that every Hosted Collector takes. */
export function httpSource(name: string): Record<string, unknown> {
  return { sourceType: 'HTTP', name, messagePerRequest: false };
}
