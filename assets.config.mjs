// The second step of `npm run build`, after the compiler: everything in dist/ that the compiler does not make.
import { chmodSync, cpSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { docsManPage } from './dist/cli/docs-man-page.js';
import { manPage } from './dist/cli/man-page.js';
import { adminApi } from './dist/contract/admin/api.js';

// Files that the program reads as they are, each beside the module that reads it.
const files = readdirSync('src', { recursive: true, encoding: 'utf8' });
for (const file of files.filter((name) => /\.(css|html|lua)$|^docs\Wguides\W.*\.\w+$/.test(name)))
  cpSync(join('src', file), join('dist', file));

// The scripts of the page and of the guides. The page knows methods and paths of our own API as data: with its schemas it would be five times as large.
const operationRoutes = Object.fromEntries(
  adminApi.map(({ name, method, path }) => [name, { method, path }]),
);
await build({
  entryPoints: {
    'admin-api/page/page': 'src/admin-api/page/main.tsx',
    'docs/page/docs': 'src/docs/page/docs.ts',
  },
  outdir: 'dist',
  bundle: true,
  minify: true,
  jsx: 'automatic',
  jsxImportSource: 'preact',
  format: 'iife',
  target: 'es2022',
  charset: 'utf8',
  define: { operationRoutes: JSON.stringify(operationRoutes) },
  logLevel: 'warning',
});

// The reference service alone, with all that it needs in one file. Some libraries call `require`.
await build({
  entryPoints: ['dist/cli/service-main.js'],
  outfile: 'dist/service.mjs',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  minify: true,
  banner: {
    js: "import { createRequire as makeRequire } from 'node:module';const require = makeRequire(import.meta.url);",
  },
  logLevel: 'warning',
});

// `npm install -g` links them: the manual pages beside those of the system, the program into the PATH.
writeFileSync('dist/upwave.1', manPage());
writeFileSync('dist/upwave-docs.7', docsManPage());
for (const program of ['dist/main.js', 'dist/service.mjs']) chmodSync(program, 0o755);
