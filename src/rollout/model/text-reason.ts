/** A reason that is known as a text alone: earlier versions of records had sentences in the place of kinds. */
export interface TextReason {
  readonly kind: 'text';
  readonly text: string;
}
