import { parse } from 'yaml';
import { z } from 'zod';

const Rule = z.object({
  alert: z.string(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.object({ severity: z.string() }),
});
const Rules = z.object({ groups: z.array(z.object({ rules: z.array(z.unknown()) })) });
type Rule = z.infer<typeof Rule>;

/**
 * The guide to the alerts with what the rules give: a table of all alerts, and the facts of each in its section. The
 * first sentence of a section is what its alert means.
 * @throws when an alert has no section, or a section no alert
 */
export function alertsGuide(guide: string, rules: string): string {
  const alerts = Rules.parse(parse(rules))
    .groups.flatMap((group) => group.rules)
    .flatMap((rule) => Rule.safeParse(rule).data ?? []);
  const [head = '', ...sections] = guide.split(/^(?=## )/m);
  const byName = new Map(sections.map((section) => [/^## (.+)$/m.exec(section)?.[1] ?? '', section]));
  const known = alerts.map(({ alert }) => alert);
  const wrong = [
    ...known.filter((alert) => !byName.has(alert)),
    ...[...byName.keys()].filter((name) => !known.includes(name)),
  ];
  if (wrong.length > 0) throw new Error(`alerts.md and rules.yml differ in ${wrong.join(', ')}`);
  const sectionOf = ({ alert }: Rule) => byName.get(alert) ?? '';
  const index = alerts.map(
    (rule) =>
      `| [${rule.alert}](#${rule.alert.toLowerCase()}) | ${rule.labels.severity} | ${meaningOf(sectionOf(rule))} |`,
  );
  const table = ['| alert | severity | meaning |', '| --- | --- | --- |', ...index].join('\n');
  return withPart(head, table) + alerts.map((rule) => withPart(sectionOf(rule), factsOf(rule))).join('');
}

function factsOf({ expr, labels, for: delay }: Rule): string {
  const when = delay === undefined ? 'immediately' : `after ${delay}`;
  return `Severity \`${labels.severity}\`. It fires ${when} where this holds:\n\n\`\`\`promql\n${expr.replaceAll(/ (?=(?:or|unless|and) )/g, '\n')}\n\`\`\``;
}

function meaningOf(section: string): string {
  return /\n\n(.+?\.)(?=\s)/s.exec(section)?.[1]?.replaceAll('\n', ' ') ?? '';
}

function withPart(text: string, part: string): string {
  const marks = /(<!-- generated[^>]*-->\n)[\s\S]*?(<!-- end of the generated part -->)/;
  if (!marks.test(text)) throw new Error(`no marks for the generated part in: ${text.slice(0, 60)}`);
  return text.replace(marks, (_all, begin: string, end: string) => `${begin}\n${part}\n\n${end}`);
}
