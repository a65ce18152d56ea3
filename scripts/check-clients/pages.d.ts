/* What the TypeScript of the pages takes as given, as scripts: names of earlier blocks, functions of an app, packages of others. */

declare const dure: import('@dure/client').Client;
declare const user: import('@dure/client').User;
declare const baseUrl: string;
declare const username: string;
declare const password: string;
declare const email: string;
declare const post_id: number;
declare const message: string;
declare const newestIdOnThePage: number;
declare const client: import('@dure/client').Client;
declare const file: File;
declare const photo: { uri: string; fileName?: string | null; mimeType?: string };
declare const create: import('@tanstack/react-query').UseMutationResult;
declare const posts: import('@tanstack/react-query').UseInfiniteQueryResult & {
  items: import('@dure/client').PostListItem[];
};
declare function Feed(): import('react').ReactElement;
declare function askForCode(token?: string): Promise<string>;
declare function explain(): void;
declare function readTokens(): import('@dure/client').Tokens | null;
declare function render(element: import('react').ReactElement): {
  findByText(text: string): Promise<Element>;
};
declare function retryIn(seconds: number | undefined): void;
declare function setBadge(count: number): void;
declare function setStatus(status: import('@dure/client').StreamStatus): void;
declare function show(what: unknown): void;
declare function showFields(fields: Partial<Record<string, readonly string[]>>): void;
declare function showLogin(reason: import('@dure/client').SignedOutReason): void;
declare function showLoginToLink(token: string): void;
declare function showSignUp(token: string, suggested: { name: string | null; email: string | null }): void;
declare function toast(text: string): void;
declare function writeTokens(tokens: import('@dure/client').Tokens | null): void;

/* What they import. */

declare const createClient: typeof import('@dure/client').createClient;
declare const isApiError: typeof import('@dure/client').isApiError;
declare const items: typeof import('@dure/client').items;
declare const LoginWithError: typeof import('@dure/client').LoginWithError;
declare const supportsPasskeys: typeof import('@dure/client').supportsPasskeys;
declare const DureProvider: typeof import('@dure/react').DureProvider;
declare const useInfiniteList: typeof import('@dure/react').useInfiniteList;
declare const useLiveNotifications: typeof import('@dure/react').useLiveNotifications;
declare const useMutation: typeof import('@dure/react').useMutation;
declare const useObject: typeof import('@dure/react').useObject;
declare const useSession: typeof import('@dure/react').useSession;
declare const QueryClient: typeof import('@tanstack/react-query').QueryClient;
declare const keepPreviousData: typeof import('@tanstack/react-query').keepPreviousData;
declare const useState: typeof import('react').useState;
declare type TokenStorage = import('@dure/client').TokenStorage;
declare type UploadProgress = import('@dure/client').UploadProgress;

/* What files of the service import, and what the example of an operation has. */

declare const BigPathId: typeof import('../../src/http/schemas.ts').BigPathId;
declare const Body: typeof import('../../src/http/schemas.ts').Body;
declare const operation: typeof import('../../src/http/route-config.ts').operation;
declare const isBigId: typeof import('../../src/http/schemas.ts').isBigId;
declare const Ref: typeof import('../../src/http/schemas.ts').Ref;
declare const Block: typeof import('../../src/http/text.ts').Block;
declare const Page: typeof import('../../src/http/pagination.ts').Page;
declare const PageQuery: typeof import('../../src/http/pagination.ts').PageQuery;
declare const paginate: typeof import('../../src/http/pagination.ts').paginate;
declare const afterId: typeof import('../../src/infrastructure/database/keyset.ts').afterId;
declare const afterTime: typeof import('../../src/infrastructure/database/keyset.ts').afterTime;
declare const sql: typeof import('../../src/infrastructure/database/sql.ts').sql;
declare const Type: typeof import('@sinclair/typebox').Type;
declare const app: Parameters<import('@fastify/type-provider-typebox').FastifyPluginAsyncTypebox>[0];
declare const database: import('../../src/infrastructure/database/client.ts').Database;
declare type Tx = import('../../src/infrastructure/database/client.ts').Tx;
declare type PageRequest = import('../../src/infrastructure/database/keyset.ts').PageRequest;
declare type NoteRow = { id: string; text: string; createdAt: Date };
declare const Note: import('@sinclair/typebox').TObject;
declare const NotePage: import('@sinclair/typebox').TObject;
declare function toNote(row: NoteRow): { id: number; text: string };
declare const notes: { listNotes(tx: Tx, postId: number, page: PageRequest): Promise<NoteRow[]> };

/* Too large to install for a few lines: as much of them as the pages use, by their own types. */

declare module 'next/headers' {
  interface Cookie {
    name: string;
    value: string;
    httpOnly?: boolean;
    secure?: boolean;
    sameSite?: 'lax' | 'strict' | 'none';
    path?: string;
    maxAge?: number;
  }
  interface Cookies {
    get(name: string): { value: string } | undefined;
    set(cookie: Cookie): void;
    set(name: string, value: string): void;
    delete(name: string): void;
  }
  function cookies(): Promise<Cookies>;
}

declare module 'next/navigation' {
  function redirect(path: string): never;
}

declare module 'next/server' {
  import type { Cookies } from 'next/headers';

  class NextRequest extends Request {
    readonly cookies: Cookies;
  }
  class NextResponse extends Response {
    readonly cookies: Cookies;
    static next(init?: { request: NextRequest }): NextResponse;
  }
}

declare module 'expo-secure-store' {
  function getItemAsync(key: string): Promise<string | null>;
  function setItemAsync(key: string, value: string): Promise<void>;
  function deleteItemAsync(key: string): Promise<void>;
}
