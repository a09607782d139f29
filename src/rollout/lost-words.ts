/** How a collector that did not come back counts: ` (1 lost x 3)`; empty while there is none. */
export function lostWords(lost: number, lostWeight: number): string {
  return lost === 0 ? '' : ` (${lost} lost x ${lostWeight})`;
}
