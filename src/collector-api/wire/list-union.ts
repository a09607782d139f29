type Page<Row> = ReadonlyArray<Row | null>;

interface ReadRow<Row> {
  readonly row: Row;
  /** The pass in which it was read last, its place among the rows of that pass, and its last position. */
  readonly pass: number;
  readonly rank: number;
  readonly at: number;
}

/** The rows of a list by id, from one or more passes over its pages, and whether they are all of its rows. */
export class ListUnion<Row> {
  readonly #idOf: (row: Row) => number;
  readonly #rows = new Map<number, ReadRow<Row>>();
  #pass = 1;
  #isInOrder = true;
  #isFirstPassInOrder = false;
  #hasShrunk = false;
  // A row without an id is identified by its position, in this pass.
  #unusable = new Set<number>();
  #order: Array<number | undefined> = [];
  #orderBefore: ReadonlyArray<number | undefined> = [];
  #firstPage: Page<Row> = [];
  /** How many rows this pass has added to the union. */
  #added = 0;
  #quietPasses = 0;
  #isShorter = false;
  #ranks = 0;
  #longest = 0;
  #furthest = 0;
  #weight = 0;

  constructor(idOf: (row: Row) => number) {
    this.#idOf = idOf;
  }

  /** Whether no row of the first pass has moved back or changed places with another. False in later passes. */
  get isInOrder(): boolean {
    return this.#isInOrder;
  }

  /** Rows of the longest page. */
  get longest(): number {
    return this.#longest;
  }

  /** The number of rows as far as it is known. */
  get length(): number {
    return Math.max(this.size, this.#furthest);
  }

  /** The number of rows that were read. */
  get size(): number {
    return this.#rows.size + this.#unusable.size;
  }

  /** The memory of all rows, in bytes. */
  get weight(): number {
    return this.#weight;
  }

  /** The rows, and how many have no id. */
  rows(): { readonly rows: readonly Row[]; readonly unusable: number } {
    return { rows: Array.from(this.#rows.values(), ({ row }) => row), unusable: this.#unusable.size };
  }

  /** Whether the second page is the first one: the offset was ignored. */
  isFirstPageAgain(page: Page<Row>, offset: number): boolean {
    const isSecond = this.#pass === 1 && offset > 0 && page.length > 0 && page.length === this.#furthest;
    return (
      isSecond && page.every((row, index) => this.#idAt(row) === this.#idAt(this.#firstPage[index] ?? null))
    );
  }

  /** Whether the first page of the second pass shows rows of an orderly first pass in their order, and no others. */
  confirmsOrder(page: Page<Row>, offset: number): boolean {
    const isAsked = this.#pass === 2 && offset === 0 && this.#isFirstPassInOrder && page.length > 0;
    const isKnown = (row: Row | null) => row === null || this.#rows.has(this.#idOf(row));
    return isAsked && page.every(isKnown) && this.#keepsOrder(page, 0, 1);
  }

  /** Looks at the order of a page. @returns whether no row lies between the rows of this pass and this page */
  join(page: Page<Row>, offset: number): boolean {
    const [first] = page;
    let isJoined = offset === 0;
    if (first !== undefined && !isJoined)
      isJoined = first === null ? this.#unusable.has(offset) : this.#isOfPass(this.#idOf(first));
    // Pages of one row have no overlap, which would show whether rows lie between them.
    const isDoubtful = !isJoined && page.length > 0 && this.#longest === 1;
    if (this.#isInOrder && (isDoubtful || !this.#keepsOrder(page, offset, 1))) this.#isInOrder = false;
    return isJoined;
  }

  /** @returns how many rows this pass had not read before */
  add(page: Page<Row>, offset: number, weight: number): number {
    const before = this.#rows.size;
    let fresh = 0;
    if (offset === 0 && this.#pass > 1) this.#unusable = new Set();
    for (const [index, row] of page.entries()) {
      const at = offset + index;
      this.#order[at] = this.#idAt(row);
      if (row === null) {
        if (!this.#unusable.has(at)) fresh += 1;
        this.#unusable.add(at);
        continue;
      }
      const id = this.#idOf(row);
      const read = this.#rows.get(id);
      const isRepeated = read?.pass === this.#pass;
      if (!isRepeated) fresh += 1;
      this.#rows.set(id, { row, pass: this.#pass, rank: isRepeated ? read.rank : this.#ranks, at });
      this.#ranks += 1;
    }
    if (offset === 0) this.#firstPage = page;
    this.#longest = Math.max(this.#longest, page.length);
    this.#furthest = Math.max(this.#furthest, offset + page.length);
    const added = this.#rows.size - before;
    this.#added += added;
    // Rows that are read again replace themselves.
    if (page.length > 0) this.#weight += (weight * added) / page.length;
    return fresh;
  }

  /** The overlap shows how a list shrinks. Later passes need none, and every second one has its pages elsewhere. */
  nextOffset(offset: number, length: number, overlap: number): number {
    if (this.#pass === 1) return offset + length - overlap;
    return offset + (this.#pass % 2 === 0 && offset === 0 ? Math.ceil(length / 2) : length);
  }

  /** Whether all rows of the list were read, at the end of a pass. @param end the number of its rows then */
  isComplete(end: number): boolean {
    const isOnePage = this.#firstPage.length >= end;
    // Rows that leave a list hide rows that move to its beginning.
    if (this.#pass === 1) return isOnePage || (this.#isInOrder && !this.#hasShrunk);
    const isQuiet = this.#added === 0;
    this.#quietPasses = isQuiet ? this.#quietPasses + 1 : 0;
    // No row changed its place between two passes, so the list has no others.
    if (isQuiet && this.#isSameOrder()) return true;
    // So many rows do not leave a list within one reading. A replica without them may have answered.
    if (end < this.#rows.size / 2) return false;
    // One page was the whole list at one instant.
    if (isOnePage) return true;
    // The union also has the rows that left a shorter list, so its size proves less.
    this.#isShorter ||= this.#order.length < this.#orderBefore.length;
    return this.#quietPasses >= (this.#isShorter ? 2 : 1) && this.size >= end;
  }

  beginPass(): void {
    this.#isFirstPassInOrder = this.#pass === 1 && this.#isInOrder;
    this.#pass += 1;
    this.#isInOrder = false;
    this.#added = 0;
    this.#orderBefore = this.#order;
    this.#order = [];
  }

  #idAt(row: Row | null): number | undefined {
    return row === null ? undefined : this.#idOf(row);
  }

  #isOfPass(id: number): boolean {
    return this.#rows.get(id)?.pass === this.#pass;
  }

  #isSameOrder(): boolean {
    const before = this.#orderBefore;
    return this.#order.length === before.length && this.#order.every((id, at) => id === before[at]);
  }

  /** In a list that only shrinks, known rows come first, in the order of their reading, and none moves back. */
  #keepsOrder(page: Page<Row>, offset: number, pass: number): boolean {
    let lastRank = -1;
    let isNewBefore = false;
    for (const [index, row] of page.entries()) {
      if (row === null) continue;
      const read = this.#rows.get(this.#idOf(row));
      if (read?.pass !== pass) isNewBefore = true;
      else if (isNewBefore || read.at < offset + index || read.rank <= lastRank) return false;
      else {
        lastRank = read.rank;
        this.#hasShrunk ||= read.at > offset + index;
      }
    }
    return true;
  }
}
