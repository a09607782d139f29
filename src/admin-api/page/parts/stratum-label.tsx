import { Fragment } from 'preact';

// A longer part is broken behind a slash or an equals sign, and only where it has none, at the end of the line.
const unbrokenMax = 20;
const breakable = /(?<=[/=])/;

/** The label of a stratum, `Linux / amd64 / 19.441-2`: a line does not break at the hyphen of a build. */
export function StratumLabel({ label }: { readonly label: string }) {
  return (
    <bdi>
      {label.split(' / ').map((part, index) => (
        <Fragment key={index}>
          {index === 0 ? '' : ' / '}
          {part.length > unbrokenMax ? (
            part.split(breakable).map((piece, at) => (
              <Fragment key={at}>
                {at === 0 ? null : <wbr />}
                {piece}
              </Fragment>
            ))
          ) : (
            <span class="part">{part}</span>
          )}
        </Fragment>
      ))}
    </bdi>
  );
}
