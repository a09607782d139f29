import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';

export interface Tab {
  readonly name: string;
  readonly content: ComponentChildren;
}

/** One of several views at a time. The arrow keys go from tab to tab, as in WAI-ARIA's pattern for tabs. */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  const id = useId();
  const [chosen, choose] = useState(0);
  const at = Math.min(chosen, tabs.length - 1);
  const moveTo = (index: number) => {
    const next = (index + tabs.length) % tabs.length;
    choose(next);
    document.getElementById(`${id}-${next}`)?.focus();
  };
  const steps: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => moveTo(at - 1),
    ArrowRight: () => moveTo(at + 1),
    Home: () => moveTo(0),
    End: () => moveTo(tabs.length - 1),
  };
  return (
    <section class="card tabbed">
      <div role="tablist" aria-label={label}>
        {tabs.map(({ name }, index) => (
          <button
            type="button"
            role="tab"
            key={name}
            id={`${id}-${index}`}
            aria-controls={`${id}-panel`}
            aria-selected={index === at}
            tabIndex={index === at ? 0 : -1}
            onClick={() => choose(index)}
            onKeyDown={({ key }) => steps[key]?.()}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${at}`}>
        {tabs[at]?.content}
      </div>
    </section>
  );
}
