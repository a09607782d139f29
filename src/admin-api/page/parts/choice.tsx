interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: ReadonlyArray<{ readonly name: string; readonly label?: string }>;
  readonly choose: (value: string) => void;
}

/** A filter by one of several values. An empty value is any of them. */
export function Choice({ label, value, options, choose }: ChoiceProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        <option value="">any</option>
        {options.map((option) => (
          <option key={option.name} value={option.name}>
            {option.label ?? option.name}
          </option>
        ))}
      </select>
    </label>
  );
}
