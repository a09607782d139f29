/** A section as the search of the page finds it. */
export interface SearchEntry {
  readonly guide: string;
  /** The title of the guide. */
  readonly in: string;
  readonly title: string;
  /** Empty: the beginning of the guide. */
  readonly anchor: string;
  /** Its words, each once, in lower case. */
  readonly words: string;
}
