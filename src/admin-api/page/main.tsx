import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatDuration } from '../../base/time.ts';
import { Activity } from './activity/activity.tsx';
import { Builds } from './activity/builds.tsx';
import { CollectorView } from './collectors/collector.tsx';
import { Collectors } from './collectors/collectors.tsx';
import { Overview } from './overview/overview.tsx';
import { KeysButton, Palette } from './palette/palette.tsx';
import { AccountSwitch } from './parts/account.tsx';
import { token } from './parts/call.ts';
import { OpenDialog } from './parts/dialog.tsx';
import {
  connection,
  followDaemon,
  heardAt,
  isStale,
  keepToken,
  me,
  policies,
  rollouts,
  signOut,
} from './parts/live.ts';
import { titleOf } from './parts/needs.ts';
import { showOnlyPrintable } from './parts/printable.ts';
import { followRoute, linkTo, type Route, route } from './parts/route.ts';
import { Time } from './parts/time.tsx';
import { RolloutView } from './rollout/rollout.tsx';

function Page() {
  const { kind } = connection.value;
  useEffect(() => {
    document.title = titleOf(rollouts.value, policies.value);
  }, [rollouts.value, policies.value]);
  return (
    <>
      <header class="top">
        <h1>
          <a href={linkTo.overview}>upwave</a> <small>{document.documentElement.dataset['version']}</small>
        </h1>
        <nav aria-label="Views">
          <a href={linkTo.overview} aria-current={route.value.view === 'overview' ? 'page' : undefined}>
            Policies
          </a>{' '}
          <a href={linkTo.activity()} aria-current={route.value.view === 'activity' ? 'page' : undefined}>
            Activity
          </a>{' '}
          <a href={linkTo.builds} aria-current={route.value.view === 'builds' ? 'page' : undefined}>
            Builds
          </a>{' '}
          <a href="/docs">Guides</a> <KeysButton />
        </nav>
        <AccountSwitch />
        <ConnectionNote />
      </header>
      <main tabIndex={-1} class={isStale.value ? 'stale' : undefined}>
        {kind === 'signedOut' ? (
          <SignIn />
        ) : kind === 'loading' && heardAt.value === 0 ? (
          <p class="empty">loading …</p>
        ) : (
          <>
            {mainViews.includes(route.value.view) ? null : <Crumbs route={route.value} />}
            <View route={route.value} />
          </>
        )}
      </main>
      <OpenDialog />
      <Palette />
    </>
  );
}

/** The views that every view links to. */
const mainViews: readonly Route['view'][] = ['overview', 'activity', 'builds'];

function View({ route: current }: { readonly route: Route }) {
  switch (current.view) {
    case 'overview':
      return <Overview asked={current.asked} />;
    case 'rollout':
      return <RolloutView key={current.id} id={current.id} asked={current.asked} />;
    case 'collectors':
      return <Collectors key={current.id} id={current.id} filter={current.filter} />;
    case 'collector':
      return <CollectorView key={current.collector} collector={current.collector} />;
    case 'activity':
      return <Activity filter={current.filter} />;
    case 'builds':
      return <Builds />;
  }
}

function Crumbs({ route: current }: { readonly route: Route }) {
  const rollout =
    current.view === 'collectors'
      ? current.id
      : current.view === 'collector'
        ? current.from.rollout
        : undefined;
  return (
    <nav aria-label="Where you are">
      <a href={linkTo.overview}>All policies</a>
      {rollout === undefined ? null : (
        <>
          {' › '}
          <a href={linkTo.rollout(rollout)}>{rollout}</a>
        </>
      )}
    </nav>
  );
}

/** Whether the page is live, or shows the last state and its age. */
function ConnectionNote() {
  const now = connection.value;
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 10_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <div class={`connection ${now.kind}`}>
      <span role="status">
        {now.kind === 'live' ? 'live' : null}
        {now.kind === 'loading' ? 'connecting …' : null}
        {now.kind === 'signedOut' ? 'signed out' : null}
        {now.kind === 'away' ? (
          <>
            {now.why}
            {heardAt.value === 0 ? (
              <>
                {' '}
                No answer since <Time at={now.since} />.
              </>
            ) : (
              <>
                {' '}
                This is the state of <Time at={now.since} />, {formatDuration(Date.now() - now.since)} ago.
              </>
            )}
          </>
        ) : null}
      </span>
      {now.kind === 'signedOut' || heardAt.value === 0 ? null : (
        <span>
          {me.value.name === null ? null : (
            <>
              <bdi>{me.value.name}</bdi> ·{' '}
            </>
          )}
          {me.value.role}
        </span>
      )}
      {token.isKnown() && now.kind !== 'signedOut' ? (
        <button type="button" class="plain" onClick={signOut}>
          sign out
        </button>
      ) : null}
    </div>
  );
}

function SignIn() {
  const now = connection.value;
  const [text, setText] = useState('');
  const field = useRef<HTMLInputElement>(null);
  // After a dialog has closed, which moves the focus, too.
  useEffect(() => field.current?.focus(), []);
  return (
    <form
      class="card sign-in"
      onSubmit={(event) => {
        event.preventDefault();
        keepToken(text);
      }}
    >
      <h2>This daemon requires a token</h2>
      <label>
        Token
        <input
          ref={field}
          type="password"
          autocomplete="off"
          required
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary">
        Show rollouts
      </button>
      <p class="error" role="alert">
        {now.kind === 'signedOut' ? now.why : ''}
      </p>
    </form>
  );
}

showOnlyPrintable();
followRoute();
void followDaemon();
render(<Page />, document.getElementById('page') ?? document.body);
