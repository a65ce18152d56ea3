import type { Browser, BrowserContext, Page } from 'playwright-core';
import sharp from 'sharp';
import { codeIn, type Mails, password } from '../../support/app.ts';

/** A person with a browser of their own. */
interface Visitor {
  username: string;
  email: string;
  name: string;
  context: BrowserContext;
  page: Page;
}

/** Opens a browser for somebody, in Korean. */
export async function openVisitor(
  browser: Browser,
  baseURL: string,
  person: { username: string; name: string },
): Promise<Visitor> {
  const context = await browser.newContext({
    baseURL,
    locale: 'ko-KR',
    viewport: { width: 360, height: 740 },
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(20_000);
  return { ...person, email: `${person.username}@example.com`, context, page: await context.newPage() };
}

/** Signs up with the code from the mail, or with its link. */
export async function signUp(
  { page, username, email, name }: Visitor,
  mails: Mails,
  proof: 'code' | 'link' = 'code',
): Promise<void> {
  await page.goto('/signup');
  await page.getByLabel('이름', { exact: true }).fill(name);
  await page.getByLabel('이메일').fill(email);
  await page.getByLabel('아이디').fill(username);
  await page.getByLabel('비밀번호', { exact: true }).fill(password);
  await page.getByRole('button', { name: '인증번호 받기', exact: true }).click();
  await page.getByRole('heading', { name: '이메일 인증', level: 1 }).waitFor();
  const mail = await mails.next(email);
  if (proof === 'code') {
    await page.getByLabel('인증번호').fill(codeIn(mail));
    await page.getByRole('button', { name: '인증하기', exact: true }).click();
  } else {
    await page.goto(/^http\S+\/verify-email\?\S+$/m.exec(mail.text)?.[0] ?? '');
    await page.getByText(`아이디 ${username} 계정`).waitFor();
    await page.getByRole('button', { name: '이메일 인증하기', exact: true }).click();
    await page.getByText('이메일을 인증했습니다').waitFor();
    await page.goto('/');
  }
  await page.getByRole('heading', { name: '제휴 글 둘러보기', level: 1 }).waitFor();
}

/** Registers a store with one category. */
export async function registerStore({ page }: Visitor, store: string, category: string): Promise<void> {
  await page.getByRole('link', { name: '가게 등록하기' }).click();
  await page.getByLabel('가게 이름').fill(store);
  await page.getByLabel(category).check();
  await page.getByRole('button', { name: '등록하기', exact: true }).click();
  await page.getByRole('heading', { name: store, level: 1 }).waitFor();
}

/** Writes a post with a picture, which is uploaded while the form is filled in. */
export async function writePost({ page }: Visitor, title: string): Promise<void> {
  await page.getByRole('link', { name: '글쓰기' }).click();
  await page.getByLabel('제목').fill(title);
  await page.getByLabel('내용').fill('꽃다발과 케이크를 묶어 함께 팔 이웃 꽃집을 찾습니다.');
  const picture = sharp({ create: { width: 320, height: 180, channels: 3, background: '#b93f1d' } });
  const file = { name: 'set.png', mimeType: 'image/png', buffer: await picture.png().toBuffer() };
  await page.getByLabel('사진 추가').setInputFiles(file);
  await page.getByRole('button', { name: '글 올리기', exact: true }).click();
  await page.getByRole('heading', { name: title, level: 1 }).waitFor();
}
