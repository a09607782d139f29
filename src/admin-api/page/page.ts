import { randomBytes } from 'node:crypto';
import { adminApiPath } from '../../contract/admin/api.ts';
import { pageScript } from './script.ts';
import { pageStyle } from './style.ts';

/** The page at `/`: one document that fetches nothing but our own API. */
export interface Page {
  readonly html: string;
  /** Lets only this page's own style and script run, by a nonce of this one answer. */
  readonly contentSecurityPolicy: string;
}

export function renderPage(version: string): Page {
  const nonce = randomBytes(18).toString('base64');
  return {
    html: documentWith({ nonce, version }),
    contentSecurityPolicy: [
      "default-src 'none'",
      `script-src 'nonce-${nonce}'`,
      `style-src 'nonce-${nonce}'`,
      "connect-src 'self'",
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  };
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M1 11q3.5-6 7 0t7 0' fill='none' stroke='%230a84a8' stroke-width='2.6' stroke-linecap='round'/%3E%3Cpath d='M8 6V1.5M5.8 3.6 8 1.4l2.2 2.2' fill='none' stroke='%230a84a8' stroke-width='1.8' stroke-linecap='round'/%3E%3C/svg%3E";

/** Everything that varies is put in by the script as text; this skeleton holds no value from outside. */
function documentWith({ nonce, version }: { readonly nonce: string; readonly version: string }): string {
  return `<!doctype html>
<html lang="en" data-api="${adminApiPath}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>upwave</title>
<link rel="icon" href="${icon}">
<style nonce="${nonce}">${pageStyle}</style>
</head>
<body>
<header>
<h1>upwave <small>${version}</small></h1>
<p id="connection" role="status">loading …</p>
</header>
<main>
<form id="sign-in" hidden>
<h2>This daemon asks for its token</h2>
<label for="token">Token</label>
<input id="token" type="password" autocomplete="off" required>
<button type="submit">Show rollouts</button>
<p id="sign-in-error" role="alert"></p>
</form>
<div id="rollouts"></div>
<section id="policies" hidden>
<h2>Looks for work</h2>
<div class="scroll"><table>
<thead><tr><th scope="col">Policy</th><th scope="col">Last look</th><th scope="col">What came of it</th><th scope="col">Next</th><td></td></tr></thead>
<tbody id="policy-rows"></tbody>
</table></div>
<p id="config-problem" class="error" role="alert"></p>
<p class="verbs"><button type="button" id="reload">read the config file again</button> <span id="config-note" role="status"></span></p>
</section>
<section id="held" hidden>
<h2>Held until released</h2>
<div class="scroll"><table>
<thead><tr><th scope="col">What</th><th scope="col">Why</th><th scope="col">By</th><th scope="col">Since</th></tr></thead>
<tbody id="held-rows"></tbody>
</table></div>
</section>
<section id="earlier" hidden>
<h2>Earlier rollouts</h2>
<div class="scroll"><table>
<thead><tr><th scope="col">Rollout</th><th scope="col">State</th><th scope="col">Target build</th>
<th scope="col" class="number">Succeeded</th><th scope="col" class="number">Failed</th><th scope="col">Ended</th></tr></thead>
<tbody id="earlier-rows"></tbody>
</table></div>
</section>
<noscript><p class="empty">This page needs JavaScript; the same data is at ${adminApiPath}/rollouts.</p></noscript>
</main>
<script nonce="${nonce}">${pageScript}</script>
</body>
</html>
`;
}
