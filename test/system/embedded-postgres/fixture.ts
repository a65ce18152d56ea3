import { startEmbeddedServer } from '../../../src/development/embedded-postgres/server.ts';

/** A process with an embedded server: prints its connection string or the error, and stops on a line of input. */
const [directory = ''] = process.argv.slice(2);
const print = (line: string) => process.stdout.write(`${line}\n`);

process.on('SIGINT', () => print('SIGINT'));
try {
  const server = await startEmbeddedServer({ directory });
  print(server.url);
  process.stdin.once('data', () => server.stop().then(() => process.exit(0)));
  process.stdin.once('end', () => process.exit(0));
} catch (error) {
  print(String(error));
  process.exit(1);
}
