import { Fragment } from 'preact';

// A longer part is broken where the line ends.
const unbrokenMax = 20;

/** The label of a stratum, `Linux / amd64 / 19.441-2`: a line does not break at the hyphen of a build. */
export function StratumLabel({ label }: { readonly label: string }) {
  return (
    <bdi>
      {label.split(' / ').map((part, index) => (
        <Fragment key={index}>
          {index === 0 ? '' : ' / '}
          <span class={part.length > unbrokenMax ? undefined : 'part'}>{part}</span>
        </Fragment>
      ))}
    </bdi>
  );
}
