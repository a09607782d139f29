import { createServer } from 'node:net';
import { listenHere } from '../network/listen-here.ts';

/** The part of a sentinel that a client uses. @param masterPort null: it accepts questions and never answers */
export async function startFakeSentinel(masterPort: number | null) {
  /** The questions it was asked, in small letters. */
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (bytes) => {
      for (const command of bytes.toString().split(/(?=\*\d+\r\n)/)) {
        const question = (
          /get-master-addr-by-name|sentinels|hello/i.exec(command)?.[0] ?? 'other'
        ).toLowerCase();
        asked.push(question);
        if (masterPort !== null) socket.write(answerTo(question, masterPort));
      }
    });
  });
  return { asked, ...(await listenHere(server)) };
}

function answerTo(question: string, masterPort: number): string {
  switch (question) {
    case 'hello':
      return `%1\r\n${bulk('proto')}:3\r\n`;
    case 'sentinels':
      return '*0\r\n';
    case 'get-master-addr-by-name':
      return `*2\r\n${bulk('127.0.0.1')}${bulk(String(masterPort))}`;
    default:
      return '+OK\r\n';
  }
}

function bulk(text: string): string {
  return `$${text.length}\r\n${text}\r\n`;
}
