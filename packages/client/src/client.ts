import { type BaseClient, type BaseClientOptions, createCore } from './base-client.ts';
import { resources as operations, type Resources } from './generated/methods.ts';
import { createNotificationFeed, type NotificationFeed } from './live/feed.ts';
import { defaultTimes, type StreamTimes } from './live/types.ts';
import { createLoginWith, type LoginWith } from './login-with.ts';
import { createPasskeys, type Passkeys } from './passkeys.ts';
import { createPush, type Push } from './push.ts';
import type { Arguments, Call, CallResponse, Operation, OperationId } from './types.ts';

/** The options of `createClient`. */
export interface ClientOptions extends BaseClientOptions {
  /** How live notifications arrive: `poll` where responses cannot be read while they come, such as in React Native. */
  transport?: 'stream' | 'poll';
  /** When live notifications reconnect and poll. */
  streamTimes?: Partial<StreamTimes>;
}

/** All operations of the API by resource, and what belongs to all of them. */
export interface Client extends Resources, BaseClient {
  auth: Resources['auth'] & LoginWith;
  passkeys: Resources['passkeys'] & Passkeys;
  push: Resources['push'] & Push;
  notifications: Resources['notifications'] & NotificationFeed;
  /** Calls an operation by its `operationId` and resolves to its whole response, with its headers and the server's text for people. */
  request<Id extends OperationId>(operation: Id, ...args: Arguments<Id>): Promise<CallResponse<Id>>;
}

/** Creates a client of a service. @throws TypeError without a usable `baseUrl`, or with browser storage outside of a browser */
export function createClient(options: ClientOptions): Client {
  const { base, caller, context, storage } = createCore(options);
  const feed = createNotificationFeed({
    caller,
    storageName: storage?.name,
    scope: () => `${context.baseUrl}:${context.language ?? ''}`,
    times: { ...defaultTimes, ...options.streamTimes },
    transport: options.transport ?? 'stream',
  });
  const call: Call = async (operation, ...args) => (await caller.request(operation, ...args)).data;
  const resources = createResources(base);
  return {
    ...resources,
    ...base,
    auth: { ...resources.auth, ...createLoginWith(call) },
    passkeys: { ...resources.passkeys, ...createPasskeys(call) },
    push: { ...resources.push, ...createPush(call, base.isSignedIn) },
    notifications: { ...resources.notifications, subscribe: feed.subscribe },
    request: (id, ...args) => caller.request(operationOf(id), ...args),
    setLanguage(language) {
      if (language === context.language) return;
      base.setLanguage(language);
      feed.restart();
    },
  };
}

/** @throws TypeError for JavaScript that names none */
function operationOf<Id extends OperationId>(id: Id): Operation<Id>;
function operationOf(id: OperationId): Operation<OperationId> {
  const all: Operation<OperationId>[] = Object.values(operations).flatMap((members) =>
    Object.values(members),
  );
  const found = all.find((operation) => operation.id === id);
  if (!found) throw new TypeError(`There is no operation ${id}`);
  return found;
}

/** A method for each operation but the stream, which responds without end. `Resources` has the types of the arguments. */
function createResources(base: BaseClient): Resources;
function createResources({ method }: BaseClient): object {
  const entries = Object.entries<Record<string, Operation<OperationId>>>(operations);
  return Object.fromEntries(
    entries.map(([resource, members]) => {
      const methods = Object.entries(members).map(([name, operation]) => [name, method(operation)]);
      return [resource, Object.fromEntries(methods)];
    }),
  );
}
