/** Labels that a histogram, the installation or the account adds to every series. */
const commonLabels = new Set(['le', 'installation', 'account']);

/** The reference of all upwave metrics in an exposition, in Markdown: type, labels and help, sorted by name. */
export function metricsReference(body: string): string {
  const types = new Map([...body.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name, type]));
  const entries = [...body.matchAll(/^# HELP (upwave_\w+) (.+)$/gm)].map(([, name = '', help]) => {
    const labels = labelsOf(name, body).map((label) => `\`${label}\``);
    const facts = [types.get(name) ?? '', ...(labels.length === 0 ? [] : [`labels ${labels.join(', ')}`])];
    return `- \`${name}\` (${facts.join('; ')}): ${help}`;
  });
  return entries.sort().join('\n');
}

function labelsOf(name: string, body: string): string[] {
  const series = body.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?\\{(.*)\\} `, 'gm'));
  const labels = [...series].flatMap(([, text = '']) =>
    [...text.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
  );
  return [...new Set(labels)].filter((label) => !commonLabels.has(label));
}
