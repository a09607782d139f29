import { createServer as createTcpServer } from 'node:net';
import { listenHere } from './listen-here.ts';
import { type SeenRequest, startScriptedServer } from './scripted-server.ts';

/** A server that takes notifications. @param answer the status of the post with this number, from 0 */
export async function startFakeReceiver(
  answer: (number: number, post: SeenRequest) => number | { status: number; location: string } = () => 200,
) {
  const { requests, ...server } = await startScriptedServer((post, response) => {
    const scripted = answer(requests.length - 1, post);
    if (typeof scripted === 'number') response.writeHead(scripted).end('no_service');
    else response.writeHead(scripted.status, { location: scripted.location }).end();
  });
  return { ...server, posts: requests };
}

/** The part of SMTP that a client uses to hand over a mail, without TLS. */
export async function startFakeMailServer() {
  /** Each with its headers. */
  const mails: Array<{ to: readonly string[]; text: string }> = [];
  /** What clients signed in with, in Base64. */
  const logins: string[] = [];
  const server = createTcpServer((socket) => {
    let waiting = '';
    let data: string[] | undefined;
    let to: string[] = [];
    const say = (line: string) => socket.write(`${line}\r\n`);
    const take = (line: string): void => {
      if (data !== undefined) {
        if (line !== '.') return void data.push(line);
        mails.push({ to, text: data.join('\n') });
        [data, to] = [undefined, []];
        say('250 taken');
        return;
      }
      const verb = line.slice(0, 4).toUpperCase();
      if (verb === 'EHLO') say('250-fake\r\n250 AUTH PLAIN');
      else if (verb === 'AUTH') {
        logins.push(line.split(' ')[2] ?? '');
        say('235 welcome');
      } else if (verb === 'RCPT') {
        to.push(line.replace(/^.*<|>.*$/g, ''));
        say('250 known');
      } else if (verb === 'DATA') {
        data = [];
        say('354 go on');
      } else if (verb === 'QUIT') socket.end('221 bye\r\n');
      else say('250 well');
    };
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      const lines = (waiting + chunk.toString()).split('\r\n');
      waiting = lines.pop() ?? '';
      for (const line of lines) take(line);
    });
    say('220 fake');
  });
  return { mails, logins, ...(await listenHere(server)) };
}
