/** The path of the index of the guides. */
export const docsPath = '/docs';

/** True for the index, each guide and the index of the search. */
export function isDocsPath(path: string): boolean {
  return path === docsPath || path.startsWith(`${docsPath}/`);
}

/** The path of a guide, or of a section of it. */
export function docsUrl(guide: string, anchor?: string): string {
  return `${docsPath}/${guide}${anchor === undefined ? '' : `#${anchor}`}`;
}
