import type { Page } from 'playwright-core';
import { password } from '../../../test/support/app.ts';
import type { Visitor } from './visitor.ts';

/* What people do on the pages. */

/** Fills in the form of the sign-up. */
export async function fillSignUp({ page, username, email, name }: Visitor): Promise<void> {
  await page.goto('/signup');
  await page.getByLabel('이름', { exact: true }).fill(name);
  await page.getByLabel('이메일').fill(email);
  await page.getByLabel('아이디').fill(username);
  await page.getByLabel('비밀번호', { exact: true }).fill(password);
}

/** Sends the form of the sign-up, with all its fields. */
export async function requestCode(visitor: Visitor): Promise<void> {
  await fillSignUp(visitor);
  await visitor.page.getByRole('button', { name: '인증번호 받기' }).click();
}

export async function enterCode(page: Page, code: string): Promise<void> {
  await page.getByLabel('인증번호').fill(code);
  await page.getByRole('button', { name: '인증하기', exact: true }).click();
}

export async function fillPost(page: Page, title: string): Promise<void> {
  await page.getByLabel('제목').fill(title);
  await page.getByLabel('내용').fill('우리 꽃과 커피를 함께 내어요.');
}

export async function logOut(page: Page): Promise<void> {
  await page.goto('/account');
  await page.getByRole('button', { name: '로그아웃', exact: true }).click();
  await page.getByRole('link', { name: '무료로 시작하기' }).waitFor();
}

/** Registers a store with one category. @param fill fills in what else the form has */
export async function registerStore(
  { page }: Visitor,
  store: string,
  category: string,
  fill?: () => Promise<void>,
): Promise<void> {
  await page.getByRole('link', { name: '가게 등록하기' }).click();
  await page.getByLabel('가게 이름').fill(store);
  await page.getByLabel(category).check();
  await fill?.();
  await page.getByRole('button', { name: '등록하기', exact: true }).click();
  await page.getByRole('heading', { name: store, level: 1 }).waitFor();
}

/** Logs in on the login page, to a page behind it. */
export async function logInAs(page: Page, username: string, next = '/'): Promise<void> {
  await page.goto(`/login?next=${encodeURIComponent(next)}`);
  await enterLogin(page, username);
  await page.getByRole('navigation', { name: '주 메뉴' }).waitFor();
}

/** On the login page. */
export async function enterLogin(page: Page, username: string): Promise<void> {
  await page.getByLabel('아이디 또는 이메일').fill(username);
  await page.getByLabel('비밀번호', { exact: true }).fill(password);
  await page.getByRole('button', { name: '로그인', exact: true }).click();
}
