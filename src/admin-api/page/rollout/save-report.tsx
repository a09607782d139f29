import { useState } from 'preact/hooks';
import { callDaemon } from '../parts/call.ts';
import { problemText } from '../parts/reading.ts';

const formats = {
  html: { label: 'HTML', type: 'text/html' },
  md: { label: 'Markdown', type: 'text/markdown' },
} as const;
type Format = keyof typeof formats;

/** Saves the report as a file, for a change ticket. A link cannot do this, because the request needs the tab's token. */
export function SaveReport({ id }: { readonly id: string }) {
  const [problem, setProblem] = useState('');
  const save = (format: Format): void => {
    setProblem('');
    download(id, format).catch((error: unknown) => setProblem(`No report: ${problemText(error)}.`));
  };
  return (
    <p class="verbs">
      Save the report as{' '}
      {(['html', 'md'] as const).map((format) => (
        <button key={format} type="button" onClick={() => save(format)}>
          {formats[format].label}
        </button>
      ))}
      <span class="error" role="status">
        {problem}
      </span>
    </p>
  );
}

async function download(id: string, format: Format): Promise<void> {
  const { report } = await callDaemon('reportRollout', { params: { id }, query: { format } });
  const url = URL.createObjectURL(new Blob([report], { type: formats[format].type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${id}.${format}`;
  link.click();
  URL.revokeObjectURL(url);
}
