import { startEmbeddedServer } from '../../src/embedded-postgres/server.ts';

/** A process of its own that holds an embedded server: prints its connection string, or the error, and stops on a line of input. */
const [directory = ''] = process.argv.slice(2);
const say = (line: string) => process.stdout.write(`${line}\n`);

process.on('SIGINT', () => say('interrupted'));
try {
  const server = await startEmbeddedServer({ directory });
  say(server.url);
  process.stdin.once('data', () => server.stop().then(() => process.exit(0)));
  process.stdin.once('end', () => process.exit(0));
} catch (error) {
  say(String(error));
  process.exit(1);
}
