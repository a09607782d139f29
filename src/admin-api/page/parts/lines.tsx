import type { ComponentChildren } from 'preact';

/** Sentences as a list, without the empty ones. */
export function Lines({ children }: { readonly children: readonly ComponentChildren[] }) {
  const lines = children.filter((child) => child !== null && child !== '');
  return lines.length === 0 ? null : (
    <ul>
      {lines.map((child, index) => (
        <li key={index}>{child}</li>
      ))}
    </ul>
  );
}
