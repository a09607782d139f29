interface CronField {
  readonly min: number;
  readonly max: number;
  /** Names of the values from `min` on. */
  readonly names?: readonly string[];
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekDays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const secondField: CronField = { min: 0, max: 59 };
const minuteToWeekDayFields: readonly CronField[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: months },
  { min: 0, max: 7, names: weekDays },
];
/** Of each month, in a leap year. */
const daysInMonth = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * True for a cron expression of five fields, or six with seconds first, that comes due some day. It knows lists,
 * ranges, steps and names; the scheduler's dialect knows more, and takes all that passes here.
 */
export function isCronExpression(text: string): boolean {
  const parts = text.trim().toLowerCase().split(/\s+/);
  if (text.length > 200 || (parts.length !== 5 && parts.length !== 6)) return false;
  const fields = parts.length === 6 ? [secondField, ...minuteToWeekDayFields] : minuteToWeekDayFields;
  const values = fields.map((field, index) => valuesOf(parts[index] ?? '', field));
  if (values.some((set) => set === undefined)) return false;
  const [days = [], monthsGiven = []] = values.slice(-3, -1);
  return monthsGiven.some((month) => days.some((day) => day <= (daysInMonth[month - 1] ?? 0)));
}

/** @returns the field's values, or undefined when it can't be read */
function valuesOf(text: string, field: CronField): number[] | undefined {
  const values: number[] = [];
  for (const part of text.split(',')) {
    const match = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/.exec(part);
    if (match === null) return undefined;
    const [, star, from, to, step] = match;
    const first = star === undefined ? numberOf(from ?? '', field) : field.min;
    const last = star === undefined ? (to === undefined ? first : numberOf(to, field)) : field.max;
    const stride = Number(step ?? 1);
    if (first === undefined || last === undefined || first > last || stride < 1 || stride > field.max)
      return undefined;
    // `5/10` means different things in different dialects.
    if (step !== undefined && star === undefined && to === undefined) return undefined;
    for (let value = first; value <= last; value += stride) values.push(value);
  }
  return values;
}

function numberOf(text: string, field: CronField): number | undefined {
  const named = field.names?.indexOf(text) ?? -1;
  if (named >= 0) return field.min + named;
  const value = /^\d{1,2}$/.test(text) ? Number(text) : undefined;
  return value !== undefined && value >= field.min && value <= field.max ? value : undefined;
}
