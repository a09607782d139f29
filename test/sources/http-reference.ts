import { adminApi } from '../../src/contract/admin/api.ts';

/** Every operation of the admin API, in Markdown. */
export function httpReference(): string {
  return adminApi
    .map(({ name, method, path, ...operation }) => {
      const summary =
        'summary' in operation && operation.summary !== undefined ? `: ${operation.summary}.` : '';
      return `- \`${method} ${path}\` (\`${name}\`)${summary}`;
    })
    .join('\n');
}
