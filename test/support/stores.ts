import type { Post as TestPost } from '../../src/domains/posts/schemas.ts';
import type { Store as TestStore } from '../../src/domains/stores/schemas.ts';
import { type Api, createUser, type Fields, type TestApp, type TestResponse } from './app.ts';

export type { TestPost, TestStore };

/** The ids of a page of a list. @throws when that is rejected */
export function idsIn<Id = number>({ status, body, text }: TestResponse): Id[] {
  if (status !== 200) throw new Error(text);
  return body.data.items.map(({ id }: { id: Id }) => id);
}

/** Registers the store of a user. */
export async function createStore({ call }: Api, token: string, fields: Fields = {}): Promise<TestStore> {
  const body = { name: '두레 카페', category_ids: [1], ...fields };
  const response = await call('POST', '/api/v1/stores/', { token, body });
  if (response.status !== 201) throw new Error(`the store was not registered: ${response.text}`);
  return response.body.data;
}

/** A user with a store. */
export interface Shop {
  id: number;
  username: string;
  email: string;
  password: string;
  token: string;
  store: TestStore;
}

/** Creates a user who registers a store. */
export async function openShop(app: TestApp, name = '두레 카페', fields: Fields = {}): Promise<Shop> {
  const user = await createUser(app);
  return { ...user, store: await createStore(app, user.token, { name, ...fields }) };
}

/** Creates a user with a store who writes a post. */
export async function createAuthor(app: TestApp, fields: Fields = {}) {
  const shop = await openShop(app);
  return { ...shop, post: await createPost(app, shop.token, fields) };
}

/** Writes a post of a user who has a store. */
export async function createPost({ call }: Api, token: string, fields: Fields = {}): Promise<TestPost> {
  const body = {
    title: '같이 팝업 열 가게를 찾아요',
    content: '주말 이틀 동안 함께할 이웃 가게를 찾습니다.',
    images: ['https://cdn.example.com/popup.jpg'],
    ...fields,
  };
  const response = await call('POST', '/api/v1/posts/', { token, body });
  if (response.status !== 201) throw new Error(`the post was not written: ${response.text}`);
  return response.body.data;
}
