/** The label of a stratum, `Linux / amd64 / 19.441-2`. A line breaks between its parts, and not at the hyphen of a build. */
export function StratumLabel({ label }: { readonly label: string }) {
  return (
    <bdi>
      {label.split(' / ').map((part, index) => (
        <>
          {index === 0 ? '' : ' / '}
          <span class="part">{part}</span>
        </>
      ))}
    </bdi>
  );
}
